package subject

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Replica makes the n-th process of a run, from 1, whose database is behind dsn. dir takes its log.
func (t Target) Replica(n int, dsn, dir string) (*Replica, error) {
	if _, err := t.command(n, dsn, dir, "1"); err != nil {
		return nil, err
	}
	r := NewReplica(n, dir, func(addr, _ string) Command {
		_, port, _ := net.SplitHostPort(addr)      // of our own making
		command, _ := t.command(n, dsn, dir, port) // it has been made before
		return command
	})
	r.stop = unix.SignalNum(t.Start.Stop)
	r.ready = t.ready
	return r, nil
}

// StartError names the field that the start of a replica failed by.
func (t Target) StartError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: start.command: %w; see to the program's name, start.dir and start.env: it must answer %s on the port that it gets as %s", t.file, err, t.Start.Ready, t.Start.PortEnv)
}
