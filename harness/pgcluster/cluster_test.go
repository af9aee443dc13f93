package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

func TestAStoppedClusterLeavesNothing(t *testing.T) {
	cluster := startCluster(t, Options{})
	family, err := children(cluster.PID())
	check(t, err)
	family = append(family, cluster.PID())
	check(t, cluster.Stop())
	for _, pid := range family {
		if !ended(pid) {
			t.Errorf("process %d of the cluster still runs", pid)
		}
	}
	if !missing(cluster.Folder()) {
		t.Errorf("%s is still there", cluster.Folder())
	}
	check(t, cluster.Stop()) // a second call does nothing
	if err := cluster.Restart(t.Context()); !errors.Is(err, ErrStopped) {
		t.Errorf("Restart after Stop: %v", err)
	}
	if err := cluster.Kill(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Kill after Stop: %v", err)
	}
}

func TestDatabasesAreCreatedAndDropped(t *testing.T) {
	cluster := startCluster(t, Options{})
	const name = `odd "name"`
	check(t, cluster.CreateDatabase(t.Context(), name))
	if err := cluster.CreateDatabase(t.Context(), name); err == nil {
		t.Error("a database could be created twice")
	}
	conn := connect(t, cluster.DSN(name))
	if got := queryText(t, conn, `SELECT current_database()`); got != name {
		t.Errorf("the session is in %q", got)
	}
	check(t, cluster.DropDatabase(t.Context(), name)) // cuts the session
	if conn, err := pgx.Connect(t.Context(), cluster.DSN(name)); err == nil {
		_ = conn.Close(t.Context())
		t.Error("a dropped database can be connected to")
	}
	check(t, cluster.DropDatabase(t.Context(), name))
}

func TestSettingsReachTheServer(t *testing.T) {
	cluster := startCluster(t, Options{Settings: map[string]string{"deadlock_timeout": "7s", "max_connections": "20"}})
	conn := connect(t, cluster.DSN("postgres"))
	for setting, want := range map[string]string{
		"deadlock_timeout": "7s", "max_connections": "20", "fsync": "off", "listen_addresses": "127.0.0.1",
	} {
		if got := queryText(t, conn, `SELECT current_setting($1)`, setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	if cluster.Version() != strings.Fields(queryText(t, conn, `SHOW server_version`))[0] {
		t.Errorf("Version says %q", cluster.Version())
	}
}

func TestAPasswordIsRequired(t *testing.T) {
	cluster := startCluster(t, Options{})
	dsn := strings.Replace(cluster.DSN("postgres"), cluster.password, "guess", 1)
	if conn, err := pgx.Connect(t.Context(), dsn); err == nil {
		_ = conn.Close(t.Context())
		t.Error("another local user could connect with a wrong password")
	}
}

func TestCommittedRowsSurviveKillAndRestart(t *testing.T) {
	cluster := startCluster(t, Options{})
	address := cluster.Addr()
	conn := connect(t, cluster.DSN("postgres"))
	execute(t, conn, `CREATE TABLE kept (n integer)`)
	for round := 1; round <= 3; round++ {
		conn = connect(t, cluster.DSN("postgres"))
		execute(t, conn, `INSERT INTO kept VALUES ($1)`, round)
		execute(t, conn, `BEGIN`)
		execute(t, conn, `INSERT INTO kept VALUES (-1)`)
		check(t, cluster.Kill())
		if cluster.PID() != 0 {
			t.Error("a killed server has a process id")
		}
		if err := conn.Ping(t.Context()); err == nil {
			t.Error("a session outlived its server")
		}
		check(t, cluster.Restart(t.Context()))
	}
	conn = connect(t, cluster.DSN("postgres"))
	if got := queryText(t, conn, `SELECT string_agg(n::text, ',' ORDER BY n) FROM kept`); got != "1,2,3" {
		t.Errorf("after three crashes the table holds %s", got)
	}
	if cluster.Addr() != address {
		t.Errorf("the address changed from %s to %s", address, cluster.Addr())
	}
}

func TestKillEndsEveryProcess(t *testing.T) {
	cluster := startCluster(t, Options{})
	connect(t, cluster.DSN("postgres"))
	family, err := children(cluster.PID())
	check(t, err)
	check(t, cluster.Kill())
	for _, pid := range family {
		eventually(t, 2*time.Second, fmt.Sprintf("process %d has ended", pid), func() bool { return ended(pid) })
	}
}

func TestAKilledClusterLeavesNoSharedMemory(t *testing.T) {
	cluster := startCluster(t, Options{})
	id, ok := abandonedSegment(filepath.Join(cluster.folder.data(), "postmaster.pid"))
	if !ok {
		t.Fatal("postmaster.pid names no shared memory")
	}
	check(t, cluster.Kill())
	check(t, cluster.Stop())
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, new(unix.SysvShmDesc)); err == nil {
		t.Errorf("segment %d is still there", id)
	}
}

func TestHaltKeepsTheDataForRestart(t *testing.T) {
	cluster := startCluster(t, Options{})
	execute(t, connect(t, cluster.DSN("postgres")), `CREATE TABLE kept AS SELECT 1 AS n`)
	check(t, cluster.Halt(t.Context()))
	if err := cluster.Halt(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Halt of a halted server: %v", err)
	}
	check(t, cluster.Restart(t.Context()))
	if err := cluster.Restart(t.Context()); err == nil {
		t.Error("a running server could be restarted")
	}
	queryText(t, connect(t, cluster.DSN("postgres")), `SELECT n::text FROM kept`)
}

func TestAPausedClusterAnswersAfterResume(t *testing.T) {
	cluster := startCluster(t, Options{})
	conn := connect(t, cluster.DSN("postgres"))
	check(t, cluster.Pause())
	answer := make(chan error, 1)
	go func() { answer <- conn.Ping(t.Context()) }()
	impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if other, err := pgx.Connect(impatient, cluster.DSN("postgres")); err == nil {
		_ = other.Close(t.Context())
		t.Error("a paused server let a session in")
	}
	select {
	case err := <-answer:
		t.Errorf("a paused server answered: %v", err)
	default:
	}
	check(t, cluster.Resume())
	check(t, <-answer)
}

func TestAPausedClusterCanBeEndedInEveryWay(t *testing.T) {
	cluster := startCluster(t, Options{})
	for name, end := range map[string]func() error{
		"Kill": cluster.Kill,
		"Halt": func() error { return cluster.Halt(t.Context()) },
	} {
		check(t, cluster.Pause())
		if err := end(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		check(t, cluster.Restart(t.Context()))
	}
	check(t, cluster.Pause())
	check(t, cluster.Stop())
}

func TestClustersRunSideBySide(t *testing.T) {
	var group errgroup.Group
	clusters := make([]*Cluster, 3)
	for i := range clusters {
		group.Go(func() (err error) {
			clusters[i], err = Start(t.Context(), Options{Fast: true})
			return err
		})
	}
	check(t, group.Wait())
	addresses := map[string]bool{}
	for _, cluster := range clusters {
		addresses[cluster.Addr()] = true
		queryText(t, connect(t, cluster.DSN("postgres")), `SELECT 'ok'`)
	}
	for _, cluster := range clusters {
		group.Go(cluster.Stop)
	}
	check(t, group.Wait())
	if len(addresses) != len(clusters) {
		t.Errorf("clusters share an address: %v", addresses)
	}
}

func TestAFailedStartSaysWhyAndLeavesNothing(t *testing.T) {
	base := openFolder(t)
	_, err := Start(t.Context(), Options{Dir: base, Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil || !strings.Contains(err.Error(), `unrecognized configuration parameter "no_such_setting"`) {
		t.Errorf("the error does not quote the server: %v", err)
	}
	assertEmpty(t, base)
}

func TestACancelledStartLeavesNothing(t *testing.T) {
	base := openFolder(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, Options{Dir: base}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Start with a short deadline: %v", err)
	}
	assertEmpty(t, base)
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	check(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	check(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	})
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, sql string, arguments ...any) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql, arguments...)
	check(t, err)
}

func queryText(t *testing.T, conn *pgx.Conn, sql string, arguments ...any) string {
	t.Helper()
	var text string
	check(t, conn.QueryRow(t.Context(), sql, arguments...).Scan(&text))
	return text
}
