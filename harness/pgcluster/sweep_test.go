package pgcluster

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// leave makes a database as a program does that is killed right afterwards, and returns when the server has seen the ends of its sessions.
func leave(t *testing.T, admin *pgx.Conn, dsn string) (name string) {
	t.Helper()
	database, err := External(t.Context(), dsn)
	check(t, err)
	database.owner.release()
	name = database.Name()
	eventually(t, 30*time.Second, "its sessions have ended", func() bool {
		return queryText(t, admin, `SELECT ((SELECT count(*) FROM pg_stat_activity WHERE datname = '`+name+`') +
			(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid::bigint = `+strconv.FormatUint(uint64(uint32(lockOf(name))), 10)+`))::text`) == "0"
	})
	return name
}

func existing(t *testing.T, conn *pgx.Conn, name string) bool {
	t.Helper()
	return queryText(t, conn, `SELECT (EXISTS (SELECT FROM pg_database WHERE datname = '`+name+`')
		OR EXISTS (SELECT FROM pg_namespace WHERE nspname = '`+name+`'))::text`) == "true"
}

func TestOnlyWhatAKilledProgramHasLeftIsSwept(t *testing.T) {
	cluster := startCluster(t, Options{})
	given := cluster.DSN("postgres")
	admin := connect(t, given)
	execute(t, admin, `CREATE DATABASE theirs`)
	execute(t, admin, `CREATE DATABASE idemstorm_run_notes`)
	execute(t, admin, `CREATE DATABASE idemstorm_0123456789abcdef`) // what an older version made may have an owner without a lock
	execute(t, admin, `CREATE ROLE other LOGIN CREATEDB PASSWORD 'other'`)
	living, err := External(t.Context(), given)
	check(t, err)
	used := leave(t, admin, given)
	connect(t, strings.Replace(given, "/postgres?", "/"+used+"?", 1))
	others := leave(t, admin, "postgres://other:other@"+cluster.Addr()+"/postgres?sslmode=disable")
	killed := leave(t, admin, given)
	elsewhere := leave(t, admin, cluster.DSN("theirs")) // a lock belongs to the database of its session; an owner is seen from all

	dropped, err := Sweep(t.Context(), given)
	check(t, err)
	slices.Sort(dropped)
	if want := []string{killed, elsewhere}; !slices.Equal(dropped, slices.Sorted(slices.Values(want))) {
		t.Errorf("dropped %v, want %v", dropped, want)
	}
	for _, name := range []string{"theirs", "idemstorm_run_notes", "idemstorm_0123456789abcdef", living.Name(), used, others} {
		if !existing(t, admin, name) {
			t.Errorf("%s was dropped", name)
		}
	}
	if existing(t, admin, killed) || existing(t, admin, elsewhere) {
		t.Error("what was left is still there")
	}
	check(t, living.Close(t.Context()))
}

func TestASchemaThatAKilledProgramHasLeftIsSwept(t *testing.T) {
	cluster := startCluster(t, Options{})
	admin := connect(t, cluster.DSN("postgres"))
	execute(t, admin, `CREATE ROLE plain LOGIN PASSWORD 'plain'`)
	execute(t, admin, `GRANT CREATE ON DATABASE postgres TO plain`)
	execute(t, admin, `CREATE SCHEMA idemstorm_run_0123456789abcdef`) // another role's
	given := "postgres://plain:plain@" + cluster.Addr() + "/postgres?sslmode=disable"
	living, err := External(t.Context(), given)
	check(t, err)
	killed := leave(t, admin, given)
	dropped, err := Sweep(t.Context(), given)
	check(t, err)
	if !slices.Equal(dropped, []string{killed}) || existing(t, admin, killed) || !existing(t, admin, living.Name()) {
		t.Errorf("dropped %v, want %v", dropped, killed)
	}
	if !existing(t, admin, "idemstorm_run_0123456789abcdef") {
		t.Error("another role's schema was dropped")
	}
	check(t, living.Close(t.Context()))
}

// An owner outlives its session: it takes its lock again when the server has cut it.
func TestAnOwnerWhoseSessionWasCutIsStillTheOwner(t *testing.T) {
	cluster := startCluster(t, Options{})
	given := cluster.DSN("postgres")
	living, err := External(t.Context(), given)
	check(t, err)
	check(t, cluster.Halt(t.Context()))
	check(t, cluster.Restart(t.Context()))
	admin := connect(t, given)
	eventually(t, 20*time.Second, "the lock is held again", func() bool {
		return queryText(t, admin, `SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory'`) == "1"
	})
	if dropped, err := Sweep(t.Context(), given); err != nil || len(dropped) > 0 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	check(t, living.Close(t.Context()))
	eventually(t, 20*time.Second, "no lock is held", func() bool {
		return queryText(t, admin, `SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory'`) == "0"
	})
}

func TestASweepThatIsStoppedDropsNothing(t *testing.T) {
	cluster := startCluster(t, Options{})
	given := cluster.DSN("postgres")
	admin := connect(t, given)
	name := leave(t, admin, given)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if dropped, err := Sweep(ctx, given); err == nil || len(dropped) > 0 || !existing(t, admin, name) {
		t.Errorf("dropped %v, %v", dropped, err)
	}
}

// Killed by a fault and then left by its program, a server's shared memory would stay until the machine is started anew.
func TestTheMemoryOfAServerThatWasKilledBeforeItsProgramIsReleased(t *testing.T) {
	h := startHelper(t, "server killed", false)
	id, ok := abandonedSegment(filepath.Join(h.folder, "data", "postmaster.pid"))
	if !ok || !segmentExists(t, id) {
		t.Fatal("the killed server has left no memory to release")
	}
	check(t, h.cmd.Process.Signal(syscall.SIGKILL))
	eventually(t, 10*orphanLimit, "the folder is gone", func() bool { return missing(h.folder) })
	if segmentExists(t, id) {
		t.Errorf("segment %d is still there", id)
	}
}

func segmentExists(t *testing.T, id int) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/sysvipc/shm")
	check(t, err)
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] == strconv.Itoa(id) {
			return true
		}
	}
	return false
}
