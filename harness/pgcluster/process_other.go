//go:build !linux

package pgcluster

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// reaches this program first. Ending it with this program is the guardian's task
// alone here.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// children lists the processes whose parent is pid.
func children(pid int) ([]int, error) {
	listing, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	var status *exec.ExitError
	if err != nil && (!errors.As(err, &status) || status.ExitCode() != 1) {
		return nil, err
	}
	var found []int
	for word := range strings.FieldsSeq(string(listing)) {
		if child, err := strconv.Atoi(word); err == nil {
			found = append(found, child)
		}
	}
	return found, nil
}

// resting reports whether the process is stopped or gone.
func resting(pid int) bool {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.ContainsAny(strings.TrimSpace(string(state)), "TZ")
}
