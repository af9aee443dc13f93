package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// belongings are what one run of the command has on this machine, so that what is left of it can be told from everybody else's.
type belongings struct {
	mark      string // a folder that does not exist, on the PATH of the run: every process inherits it, PostgreSQL's too
	temp      string // the run's TMPDIR
	family    []process
	listeners map[string]string // inode of a listening socket → its line in /proc/net/tcp
	segments  []string          // System V shared memory, by id
}

// newBelongings gives a run a mark and a temporary folder that every user may enter, as PostgreSQL's must.
func newBelongings(t *testing.T) *belongings {
	t.Helper()
	temp, err := os.MkdirTemp("/tmp", "idemstorm-ending-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	return &belongings{mark: "/nowhere/" + filepath.Base(temp), temp: temp}
}

// environment is what the command is started with.
func (b *belongings) environment() []string {
	return append(os.Environ(), "TMPDIR="+b.temp, "PATH="+b.mark+":"+os.Getenv("PATH"))
}

// survey takes stock of a run that is under way. One that has no listener is not under way.
func (b *belongings) survey(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	b.family = append(b.marked(t), descendants(t, cmd.Process.Pid)...)
	b.listeners, b.segments = listenersOf(t, b.family), b.sharedMemory(t)
	if len(b.family) < 5 || len(b.listeners) < 3 || len(b.segments) == 0 {
		t.Fatalf("%d processes, %d listeners and %d segments of shared memory were found: fewer than a run has", len(b.family), len(b.listeners), len(b.segments))
	}
}

// marked are the living processes that have the mark in their environment or work in the run's folder. Those of PostgreSQL's that serve a
// client write their title over their environment.
func (b *belongings) marked(t *testing.T) (found []process) {
	t.Helper()
	for _, p := range processes(t) {
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid))
		if bytes.Contains(environment, []byte(b.mark)) || strings.HasPrefix(cwd, b.temp) {
			found = append(found, p)
		}
	}
	return found
}

// sharedMemory reads the segments' ids from the folders of the run's PostgreSQL servers, those that were killed included.
func (b *belongings) sharedMemory(t *testing.T) (ids []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(b.temp, "*", "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if lines := strings.Split(string(text), "\n"); len(lines) > 6 && len(strings.Fields(lines[6])) == 2 {
			ids = append(ids, strings.Fields(lines[6])[1])
		}
	}
	return ids
}

// awaitNothingLeft fails unless everything is gone soon: processes, also those that began after the survey, folders, ports, mounts, memory.
func (b *belongings) awaitNothingLeft(t *testing.T) {
	t.Helper()
	awaitGone(t, b.family, 30*time.Second)
	for what, left := range map[string]func() []string{
		"processes of the run": func() []string { return standing(b.marked(t)) },
		"temporary files":      func() []string { return entriesOf(t, b.temp) },
		"listening ports":      func() []string { return b.listening(t) },
		"mounts":               func() []string { return b.mounts(t) },
		"shared memory":        func() []string { return b.memory(t) },
	} {
		end := time.Now().Add(30 * time.Second)
		for rest := left(); len(rest) > 0; rest = left() {
			if time.Now().After(end) {
				t.Errorf("%s are left: %s", what, strings.Join(rest, " · "))
				break
			}
			time.Sleep(50 * time.Millisecond) // between two looks
		}
	}
}

func standing(list []process) (lines []string) {
	for _, p := range list {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		lines = append(lines, fmt.Sprintf("%d %s", p.pid, bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	}
	return lines
}

func entriesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// listenersOf finds the sockets on which processes listen. A socket is known by its inode: a port may be another's a moment later.
func listenersOf(t *testing.T, family []process) map[string]string {
	t.Helper()
	held := map[string]bool{}
	for _, p := range family {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.pid))
		for _, link := range links {
			target, _ := os.Readlink(link)
			if inode, ok := strings.CutPrefix(target, "socket:["); ok {
				held[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	found := map[string]string{}
	for inode, line := range listeningSockets(t) {
		if held[inode] {
			found[inode] = line
		}
	}
	return found
}

// listeningSockets are all of this machine's, by their inodes.
func listeningSockets(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		for _, line := range fieldsOfLines(t, table) {
			if fields := strings.Fields(line); len(fields) > 9 && fields[3] == "0A" {
				found[fields[9]] = fields[1]
			}
		}
	}
	return found
}

func (b *belongings) listening(t *testing.T) (left []string) {
	t.Helper()
	now := listeningSockets(t)
	for inode := range b.listeners {
		if line, still := now[inode]; still {
			left = append(left, line)
		}
	}
	return left
}

func (b *belongings) mounts(t *testing.T) (left []string) {
	t.Helper()
	for _, p := range processes(t) {
		if mounted(p.pid, []string{b.temp}) {
			left = append(left, fmt.Sprintf("seen by process %d", p.pid))
		}
	}
	return left
}

func (b *belongings) memory(t *testing.T) (left []string) {
	t.Helper()
	for _, line := range fieldsOfLines(t, "/proc/sysvipc/shm") {
		for _, id := range b.segments {
			if fields := strings.Fields(line); len(fields) > 1 && fields[1] == id {
				left = append(left, id)
			}
		}
	}
	return left
}

// fieldsOfLines reads a table of the kernel's; one that does not exist, such as that of IPv6, has no lines.
func fieldsOfLines(t *testing.T, path string) (lines []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	return lines
}
