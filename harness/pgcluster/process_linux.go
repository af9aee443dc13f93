package pgcluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// reaches this program first, and has the kernel end it with this program.
// SIGQUIT, not SIGKILL: it makes the postmaster end its children at once.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}

// children lists the processes whose parent is pid.
func children(pid int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var found []int
	for _, path := range stats {
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if _, parent := stat(child); parent == pid {
			found = append(found, child)
		}
	}
	return found, nil
}

// resting reports whether the process is stopped or gone.
func resting(pid int) bool {
	state, _ := stat(pid)
	return state == 'T' || state == 't' || state == 'Z' || state == 0
}

// stat reads a process's state letter and parent; 0 and 0 when it is gone.
func stat(pid int) (state byte, parent int) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// The command name stands in parentheses and may hold anything, also spaces.
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent
}
