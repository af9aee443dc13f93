// Package scratch makes temporary folders that do not outlive the program, also when it is killed.
//
// It stands beside the walk: commands keep runs in one that nobody asked to see.
package scratch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// guardScript waits until its input ends, which the end of the program brings about, and removes the folder.
// One line of input is word that the folder is to stay.
const guardScript = `read -r word || rm -rf "$1"`

// Folder is one temporary folder.
type Folder struct {
	Path  string // absolute
	guard *exec.Cmd
	input io.WriteCloser
}

// New makes a folder below the system's temporary folder, with a shell beside the program that removes it when the program is gone.
func New(prefix string) (*Folder, error) {
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	f := &Folder{Path: path}
	if f.Path, err = filepath.Abs(path); err == nil {
		err = f.watch()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watch over the temporary folder %s: %w", path, err), os.RemoveAll(path))
	}
	return f, nil
}

func (f *Folder) watch() (err error) {
	f.guard = exec.Command("/bin/sh", "-c", guardScript, "sh", f.Path)
	f.guard.Dir = "/"
	f.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is not for it
	if f.input, err = f.guard.StdinPipe(); err != nil {
		return err
	}
	return f.guard.Start()
}

// Remove removes the folder and all in it, and returns when the shell has ended.
func (f *Folder) Remove() error {
	_ = f.input.Close()
	_ = f.guard.Wait() // one that somebody has killed leaves its work to the next line
	return os.RemoveAll(f.Path)
}

// Keep leaves the folder to whoever wants to look into it.
func (f *Folder) Keep() error {
	_, err := io.WriteString(f.input, "keep\n")
	err = errors.Join(err, f.input.Close())
	_ = f.guard.Wait()
	return err
}
