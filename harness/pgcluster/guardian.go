package pgcluster

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// guardScript reads what becomes of the cluster. When its input ends without
// "dismissed", the program that wrote it is dead: it ends the server, waking it
// first if it was paused, and removes the folder. The wait is bounded at about two seconds. A server that a fault has killed before has left
// its shared memory in the kernel, under the id on line 7 of its pid file; where that cannot be removed, the folder stays too, for the
// next start to sweep both away.
const guardScript = `
server= frozen=
while read -r event pids; do
	case $event in
	started) server=$pids ;;
	ended) server= frozen= ;;
	paused) frozen=$pids ;;
	resumed) frozen= ;;
	dismissed) exit 0 ;;
	esac
done
if [ -n "$server" ]; then
	kill -QUIT $server
	[ -z "$frozen" ] || kill -CONT $frozen
	left=100
	while [ $left -gt 0 ] && kill -0 $server; do
		sleep 0.02
		left=$((left - 1))
	done
	kill -KILL $server
fi 2>/dev/null
segment=$(sed -n '7s/.* //p' "$1/data/postmaster.pid" 2>/dev/null)
if [ -n "$segment" ] && [ -r /proc/sysvipc/shm ]; then
	while read -r key id mode size creator last attached rest; do
		if [ "$id" = "$segment" ] && [ "$attached" = 0 ]; then ipcrm -m "$id" || exit 1; fi
	done </proc/sysvipc/shm
fi 2>/dev/null
rm -rf "$1"
`

// guardian is a shell that outlives a killed program by the time it takes to
// tidy up after it. The parent-death signal alone reaches no paused process,
// exists on Linux only, and removes no files.
type guardian struct {
	cmd    *exec.Cmd
	events io.WriteCloser
}

func watch(folder string) (*guardian, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "sh", folder)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is not for it
	events, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("watch over the cluster: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("watch over the cluster: %w", err)
	}
	return &guardian{cmd: cmd, events: events}, nil
}

func (g *guardian) started(server int) { g.tell("started", server) }
func (g *guardian) ended()             { g.tell("ended") }
func (g *guardian) paused(family []int) {
	g.tell("paused", family...)
}
func (g *guardian) resumed() { g.tell("resumed") }

// dismiss ends the guardian in good order.
func (g *guardian) dismiss() {
	if g == nil {
		return
	}
	g.tell("dismissed")
	_ = g.events.Close()
	_ = g.cmd.Wait()
}

// tell passes an event on. A guardian that somebody has killed takes nothing
// from the run itself, so that is no error.
func (g *guardian) tell(event string, pids ...int) {
	line := strings.Trim(fmt.Sprint(event, " ", pids), "[]")
	_, _ = fmt.Fprintln(g.events, strings.NewReplacer("[", "", "]", "").Replace(line))
}
