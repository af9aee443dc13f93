package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// folderPrefix opens the name of every cluster's folder; the owner's process id follows.
const folderPrefix = "idemstorm-pg-"

// ownerFile is locked by its owner for as long as the owner lives.
const ownerFile = "owner.pid"

// folder is the one place where a cluster keeps its files.
type folder struct {
	path  string
	owner *os.File
}

// newFolder creates a cluster's folder below base and gives it to the account.
// It also sweeps away what killed programs have left beside it.
func newFolder(base string, owner *account) (*folder, error) {
	base, err := owner.reachable(base)
	if err != nil {
		return nil, err
	}
	sweep(base)
	path, err := os.MkdirTemp(base, fmt.Sprintf("%s%d-", folderPrefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("create the cluster's folder: %w", err)
	}
	f := &folder{path: path}
	if err := f.claim(owner); err != nil {
		return nil, errors.Join(err, f.remove())
	}
	return f, nil
}

func (f *folder) claim(owner *account) error {
	var err error
	if f.owner, err = os.Create(filepath.Join(f.path, ownerFile)); err != nil {
		return fmt.Errorf("mark the cluster's folder as owned: %w", err)
	}
	if err := syscall.Flock(int(f.owner.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w", f.owner.Name(), err)
	}
	if _, err := fmt.Fprintln(f.owner, os.Getpid()); err != nil {
		return fmt.Errorf("mark the cluster's folder as owned: %w", err)
	}
	return owner.take(f.path)
}

func (f *folder) data() string { return filepath.Join(f.path, "data") }

func (f *folder) remove() error {
	releaseSegment(f.data())
	err := os.RemoveAll(f.path)
	if f.owner != nil {
		err = errors.Join(err, f.owner.Close())
	}
	if err != nil {
		return fmt.Errorf("remove the cluster's folder: %w", err)
	}
	return nil
}

// sweep removes the folders of programs that are gone. What cannot be removed,
// another user's folder for one, is left to whoever can.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, entry := range entries {
		path := filepath.Join(base, entry.Name())
		if entry.IsDir() && abandoned(path) {
			releaseSegment(filepath.Join(path, "data"))
			_ = os.RemoveAll(path)
		}
	}
}

// abandoned reports whether a folder's owner is gone: no process has its id, and
// nobody holds its lock. The lock is asked as well because an owner in another
// container has an id that means nothing here.
func abandoned(path string) bool {
	rest, ours := strings.CutPrefix(filepath.Base(path), folderPrefix)
	id, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(id)
	if !ours || err != nil || pid <= 0 || !gone(pid) {
		return false
	}
	owner, err := os.Open(filepath.Join(path, ownerFile))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer owner.Close()
	return syscall.Flock(int(owner.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// gone reports whether no process has this id. One that may not be signalled is there.
func gone(pid int) bool {
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
