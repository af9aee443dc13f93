//go:build !linux

package pgcluster

import (
	"errors"
	"os/exec"
)

// enclosure is known on Linux only.
type enclosure struct{}

var errNoEnclosure = errors.New("mounts of one's own exist on Linux only")

func enclose() (*enclosure, error)                         { return nil, errNoEnclosure }
func (e *enclosure) do(func() error) error                 { return errNoEnclosure }
func (e *enclosure) launch(*exec.Cmd) (*postmaster, error) { return nil, errNoEnclosure }
func (e *enclosure) open()                                 {}
func mountMemory(string, int64, *account) error            { return errNoEnclosure }
