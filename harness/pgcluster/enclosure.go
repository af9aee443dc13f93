package pgcluster

import "os/exec"

// enclosure has mounts of its own, which nobody else sees, and which are gone when it and the processes that were started in it are: also
// after a SIGKILL of all of them, nothing stays mounted. Who makes one must open it.
type enclosure interface {
	// do runs f where it may work on the files of the enclosure, by the names that seen gives, and waits for it.
	do(f func() error) error
	seen(path string) string
	// mountMemory mounts an empty file system of size bytes on a folder, for the owner. It is called in do.
	mountMemory(path string, size int64, owner *account) error
	// launch starts cmd among the mounts.
	launch(cmd *exec.Cmd) (*postmaster, error)
	// open gives the enclosure up.
	open()
}
