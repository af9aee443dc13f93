package pgcluster

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// segmentLine is the line of postmaster.pid, counted from zero, that names the
// server's System V shared memory: its key, then its id.
const segmentLine = 6

// releaseSegment removes the shared memory that a killed server leaves in the
// kernel: a few bytes, but the number of segments on a machine is limited. A
// server that ended in good order has removed its pid file and the segment.
func releaseSegment(data string) {
	id, ok := abandonedSegment(filepath.Join(data, "postmaster.pid"))
	if !ok {
		return
	}
	var segment unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &segment); err != nil || segment.Nattch > 0 {
		return // gone, or in use: the id may be somebody else's by now
	}
	_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
}

func abandonedSegment(pidFile string) (id int, ok bool) {
	content, err := os.ReadFile(pidFile)
	if err != nil {
		return 0, false
	}
	lines := strings.Split(string(content), "\n")
	if len(lines) <= segmentLine {
		return 0, false
	}
	words := strings.Fields(lines[segmentLine])
	if len(words) != 2 {
		return 0, false
	}
	id, err = strconv.Atoi(words[1])
	return id, err == nil
}
