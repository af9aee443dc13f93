package pgcluster

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestABouncer(t *testing.T) {
	cluster := startCluster(t, Options{})
	check(t, cluster.CreateDatabase(t.Context(), "pooled"))
	bouncer, err := cluster.StartBouncer(t.Context(), BouncerOptions{Database: "pooled", Clients: 50, Sessions: 2})
	check(t, err)
	t.Cleanup(func() { check(t, bouncer.Kill()) })
	for name, rule := range map[string]func(*testing.T, *Cluster, *Bouncer){
		"lets clients share the sessions of the database": sharesSessions,
		"comes back at its address when killed":           comesBack,
		"finds the database again after its outage":       findsAgain,
		"is no root and hides the password":               isDiscreet,
	} {
		t.Run(name, func(t *testing.T) { rule(t, cluster, bouncer) })
	}
}

// Statements with parameters must come through although no session of the database belongs to anybody.
func sharesSessions(t *testing.T, _ *Cluster, bouncer *Bouncer) {
	var clients []*pgx.Conn
	for range 6 {
		clients = append(clients, connect(t, bouncer.DSN()))
	}
	sessions := map[string]bool{}
	for range 5 {
		for _, conn := range clients {
			sessions[queryText(t, conn, `SELECT pg_backend_pid()::text || $1`, "")] = true
		}
	}
	if len(sessions) == 0 || len(sessions) > 2 {
		t.Errorf("6 clients had %d sessions, want at most 2", len(sessions))
	}
}

func comesBack(t *testing.T, _ *Cluster, bouncer *Bouncer) {
	addr, pid := bouncer.Addr(), bouncer.PID()
	check(t, bouncer.Kill())
	check(t, bouncer.Kill()) // again does nothing
	if !ended(pid) {
		t.Error("it still runs")
	}
	if conn, err := pgx.Connect(t.Context(), bouncer.DSN()); err == nil {
		_ = conn.Close(t.Context())
		t.Error("it answers after its end")
	}
	check(t, bouncer.Start(t.Context()))
	if bouncer.Addr() != addr {
		t.Errorf("its address changed from %s to %s", addr, bouncer.Addr())
	}
	if got := queryText(t, connect(t, bouncer.DSN()), `SELECT $1`, "through"); got != "through" {
		t.Errorf("it answers %q", got)
	}
}

// An outage of the database must not outlive itself in the pooler.
func findsAgain(t *testing.T, cluster *Cluster, bouncer *Bouncer) {
	check(t, cluster.HaltNow(t.Context()))
	check(t, cluster.Restart(t.Context()))
	eventually(t, 10*orphanLimit, "statements come through again", func() bool { return bouncer.ping(t.Context()) == nil })
}

func isDiscreet(t *testing.T, cluster *Cluster, bouncer *Bouncer) {
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(bouncer.PID())))
	check(t, err)
	if info.Sys().(*syscall.Stat_t).Uid == 0 {
		t.Error("it runs as root")
	}
	files, err := filepath.Glob(filepath.Join(cluster.Folder(), "pgbouncer-*"))
	check(t, err)
	if len(files) != 2 {
		t.Errorf("its files are %v", files)
	}
	for _, path := range files {
		if info, err = os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s may be read by others: %v, %v", path, info.Mode(), err)
		}
	}
}
