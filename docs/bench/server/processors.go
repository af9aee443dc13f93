package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// spent is processor time in seconds by who spent it, and how long the processors had nothing to do.
type spent struct{ postgres, server, driver, pgbench, idle float64 }

func (s spent) plus(o spent) spent {
	return spent{s.postgres + o.postgres, s.server + o.server, s.driver + o.driver, s.pgbench + o.pgbench, s.idle + o.idle}
}

func (s spent) minus(o spent) spent {
	return s.plus(spent{-o.postgres, -o.server, -o.driver, -o.pgbench, -o.idle})
}

// each divides by the number of requests and gives microseconds.
func (s spent) each(requests int) spent {
	f := 1e6 / float64(max(requests, 1))
	return spent{s.postgres * f, s.server * f, s.driver * f, s.pgbench * f, s.idle * f}
}

func (s spent) sum() float64 { return s.postgres + s.server + s.driver + s.pgbench }

// meter reads what is spent on a database between start and stop.
type meter struct {
	db     *database
	before spent
	spent  spent
	err    error
}

func (m *meter) start(ctx context.Context) { m.before, m.err = m.db.spent(ctx) }

func (m *meter) stop(ctx context.Context) {
	after, err := m.db.spent(ctx)
	if m.err == nil {
		m.err = err
	}
	m.spent = after.minus(m.before)
}

// spent is what has been spent so far: by PostgreSQL with all its processes, by the server, by ourselves.
func (d *database) spent(ctx context.Context) (s spent, err error) {
	if s.postgres, err = familyTime(d.cluster.PID()); err != nil {
		return s, err
	}
	if s.server, err = serverTime(ctx, d.replica.URL()); err != nil {
		return s, err
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return s, fmt.Errorf("read our own processor time: %w", err)
	}
	s.driver = seconds(own.Utime) + seconds(own.Stime)
	s.idle, err = idleTime()
	return s, err
}

func seconds(t syscall.Timeval) float64 { return time.Duration(t.Nano()).Seconds() }

// ticks a second are what /proc counts in, on every Linux that Go runs on.
const ticks = 100

// familyTime is the time of a process, its children and those of them that have ended.
func familyTime(pid int) (float64, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("read /proc: %w", err)
	}
	var total int64
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		// After the name, which may hold spaces: state, parent, …; times of itself and of its ended children are the 12th to the 15th.
		f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		parent, _ := strconv.Atoi(f[1])
		switch {
		case id == pid:
			total += sum(f[11:15])
		case parent == pid:
			total += sum(f[11:13])
		}
	}
	return float64(total) / ticks, nil
}

func sum(fields []string) (n int64) {
	for _, f := range fields {
		v, _ := strconv.ParseInt(f, 10, 64) // the kernel writes numbers
		n += v
	}
	return n
}

const processTime = "process_cpu_seconds_total "

// serverTime is what the server says of itself under /metrics.
func serverTime(ctx context.Context, url string) (float64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, fmt.Errorf("read the server's processor time: %w", err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), processTime); ok {
			return strconv.ParseFloat(v, 64)
		}
	}
	return 0, fmt.Errorf("the server's /metrics have no %s", processTime)
}

// idleTime is that of all processors, waiting for a disk included.
func idleTime() (float64, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("read /proc/stat: %w", err)
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	f := strings.Fields(line)
	return float64(sum(f[4:6])) / ticks, nil
}

// machine is a line about what everything runs on.
func machine() string {
	load, _ := os.ReadFile("/proc/loadavg") // a header is no reason to fail
	f := strings.Fields(string(load) + " ? ? ?")
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(0, &set)
	return fmt.Sprintf("load before: %s; %d processors", strings.Join(f[:3], " "), set.Count())
}
