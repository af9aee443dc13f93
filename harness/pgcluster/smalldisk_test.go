package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

const (
	testDisk = 32 << 20
	fillRow  = `INSERT INTO rows SELECT repeat('x', 6000)` // a page of its own, in line
	manyRows = `CREATE TABLE rows (t text); ALTER TABLE rows ALTER t SET STORAGE PLAIN`
)

// Nobody but the cluster's own processes sees the disk, so that nobody has to unmount it; and what was on it survives a crash.
func TestAFullDiskIsAnErrorUntilItIsFreed(t *testing.T) {
	cluster, err := Start(t.Context(), Options{Fast: true, SmallDisk: testDisk})
	if errors.Is(err, ErrNoSmallDisk) && os.Geteuid() != 0 {
		return // the other tests judge what there is to judge here
	}
	check(t, err)
	t.Cleanup(func() { check(t, cluster.Stop()) })
	check(t, cluster.CreateDatabase(t.Context(), "full"))
	conn := connect(t, cluster.DSN("full"))
	execute(t, conn, manyRows)
	for range 2 {
		execute(t, conn, fillRow)
		check(t, cluster.FillDisk())
		for range 2 {
			if _, err := conn.Exec(t.Context(), fillRow); sqlState(err) != "53100" {
				t.Fatalf("on a full disk: %v", err)
			}
		}
		queryText(t, conn, `SELECT count(*)::text FROM rows`)
		check(t, cluster.FreeDisk())
	}
	check(t, cluster.FreeDisk()) // again does nothing
	check(t, cluster.FillDisk())
	check(t, cluster.Kill())
	check(t, cluster.FreeDisk()) // recovery needs room
	check(t, cluster.Restart(t.Context()))
	conn = connect(t, cluster.DSN("full"))
	execute(t, conn, fillRow)
	if got := queryText(t, conn, `SELECT count(*)::text FROM rows`); got != "3" {
		t.Errorf("the table has %s rows, want 3", got)
	}
	if !mountedFor(t, "/proc/"+strconv.Itoa(cluster.PID()), cluster.Folder()) || mountedFor(t, "/proc/self", cluster.Folder()) {
		t.Error("the server does not see its disk, or the program that started it sees it too")
	}
	check(t, cluster.Stop())
	if !missing(cluster.Folder()) {
		t.Error("the folder is still there")
	}
}

func TestADiskNeedsToBeAskedFor(t *testing.T) {
	cluster := &Cluster{}
	for _, err := range []error{cluster.FillDisk(), cluster.FreeDisk()} {
		if err == nil || !strings.Contains(err.Error(), "small disk") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAKilledProgramLeavesNoDisk(t *testing.T) {
	h := startHelper(t, "small disk", false)
	family, err := children(h.server)
	check(t, err)
	check(t, h.cmd.Process.Kill())
	for _, pid := range append(family, h.server) {
		eventually(t, 10*orphanLimit, "the processes have ended", func() bool { return ended(pid) })
	}
	eventually(t, 10*orphanLimit, "the folder is gone", func() bool { return missing(h.folder) })
	if who := seeing(t, h.folder); len(who) > 0 {
		t.Errorf("%v still have the disk", who)
	}
}

// An ordinary user's disk is mounted in a user namespace. Where the machine gives nobody one, a start says so, in one line, and leaves nothing.
func TestAnOrdinaryUsersDiskCanBeFullToo(t *testing.T) {
	h := startHelperThat(t, "fills a disk", true)
	line, err := h.lines.ReadString('\n')
	check(t, err)
	if strings.Contains(line, ErrNoSmallDisk.Error()) {
		t.Log(line)
		assertEmptyBut(t, h.base, "helper")
		return
	}
	if line != "53100, then 2 rows, after a crash 3\n" {
		t.Errorf("it says %q", line)
	}
	check(t, h.input.Close())
	check(t, h.cmd.Wait())
	assertEmptyBut(t, h.base, "helper")
}

// The shell that keeps an ordinary user's mount ends with the program, and the mount with the shell.
func TestAKilledProgramOfAnOrdinaryUserLeavesNoDisk(t *testing.T) {
	h := startHelperThat(t, "fills a disk", true)
	line, err := h.lines.ReadString('\n')
	check(t, err)
	if !strings.Contains(line, ErrNoSmallDisk.Error()) && len(seeing(t, h.base)) < 2 {
		t.Error("neither the server nor the shell sees the disk")
	}
	check(t, h.cmd.Process.Kill())
	eventually(t, 10*orphanLimit, "nobody sees the disk", func() bool { return len(seeing(t, h.base)) == 0 })
	eventually(t, 10*orphanLimit, "the folder is gone", func() bool {
		left, err := filepath.Glob(filepath.Join(h.base, folderPrefix+"*"))
		return err == nil && len(left) == 0
	})
}

// fillsADisk is what the helper does: a disk that is full, free again, and there after a crash.
func fillsADisk(cluster *Cluster) (story string, err error) {
	ctx := context.Background()
	if err := cluster.CreateDatabase(ctx, "full"); err != nil {
		return "", err
	}
	var states []string
	insert := func() {
		conn, err := pgx.Connect(ctx, cluster.DSN("full"))
		if err == nil {
			_, err = conn.Exec(ctx, fillRow)
			_ = conn.Close(ctx)
		}
		states = append(states, sqlState(err))
	}
	rows := func() (n int) {
		conn, err := pgx.Connect(ctx, cluster.DSN("full"))
		if err == nil {
			_ = conn.QueryRow(ctx, `SELECT count(*) FROM rows`).Scan(&n)
			_ = conn.Close(ctx)
		}
		return n
	}
	conn, err := pgx.Connect(ctx, cluster.DSN("full"))
	if err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, manyRows)
	_ = conn.Close(ctx)
	insert()
	err = errors.Join(err, cluster.FillDisk())
	insert()
	err = errors.Join(err, cluster.FreeDisk())
	insert()
	before := rows()
	err = errors.Join(err, cluster.Kill(), cluster.Restart(ctx))
	insert()
	return fmt.Sprintf("%s, then %d rows, after a crash %d", states[1], before, rows()), err
}

// seeing are the processes that see a mount below a folder.
func seeing(t *testing.T, folder string) (who []string) {
	t.Helper()
	mounts, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	check(t, err)
	for _, path := range mounts {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), folder) {
			who = append(who, path)
		}
	}
	return who
}

func assertEmptyBut(t *testing.T, dir, expected string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	for _, e := range entries {
		if e.Name() != expected {
			t.Errorf("%s is left in %s", e.Name(), dir)
		}
	}
}

func mountedFor(t *testing.T, proc, folder string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	check(t, err)
	return strings.Contains(string(text), folder)
}

func TestAnImmediateStopIsRecoveredFrom(t *testing.T) {
	cluster := startCluster(t, Options{})
	conn := connect(t, cluster.DSN("postgres"))
	execute(t, conn, `CREATE TABLE kept (n integer)`)
	execute(t, conn, `INSERT INTO kept VALUES (1)`)
	family, err := children(cluster.PID())
	check(t, err)
	check(t, cluster.HaltNow(t.Context()))
	for _, pid := range family {
		eventually(t, 10*orphanLimit, "the processes have ended", func() bool { return ended(pid) })
	}
	if err := cluster.HaltNow(t.Context()); err != ErrNotRunning {
		t.Errorf("a second time: %v", err)
	}
	check(t, cluster.Restart(t.Context()))
	conn = connect(t, cluster.DSN("postgres"))
	if got := queryText(t, conn, `SELECT n::text FROM kept`); got != "1" {
		t.Errorf("the table holds %s", got)
	}
}

func TestErrorsAreCountedByTheirCode(t *testing.T) {
	cluster := startCluster(t, Options{})
	conn := connect(t, cluster.DSN("postgres"))
	for want := range int64(4) {
		got, err := cluster.ErrorsGiven(t.Context(), conn, "22012")
		check(t, err)
		if got != want {
			t.Errorf("%d divisions by zero are counted as %d", want, got)
		}
		if _, err := conn.Exec(t.Context(), `SELECT 1 / 0 /* ERROR: `+strings.Repeat("x", 100000)+` */`); err == nil {
			t.Error("it can divide by zero")
		}
	}
}

// A log comes in pieces that end anywhere.
func TestLinesInPiecesCountOnce(t *testing.T) {
	const text = "2026-01-02 03:04:05.678 UTC [12] 53300 client backend FATAL:  sorry\n" +
		"2026-01-02 03:04:05.678 UTC [13] 53300  FATAL:  so early that it has no name\n" +
		"2026-01-02 03:04:05.678 UTC [14] 53300 autovacuum worker ERROR:  not a client\n" +
		"2026-01-02 03:04:05.678 UTC [15] 53300 client backend STATEMENT:  SELECT '[1] 53300 client backend ERROR: '\n"
	for piece := 1; piece < len(text); piece++ {
		l := newErrorLog(nil)
		for at := 0; at < len(text); at += piece {
			_, _ = l.Write([]byte(text[at:min(len(text), at+piece)]))
		}
		if got := l.of("53300"); got != 2 {
			t.Fatalf("in pieces of %d bytes: %d, want 2", piece, got)
		}
	}
}
