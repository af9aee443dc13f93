package pgcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	createKept = `CREATE TABLE kept (n integer)`
	insertKept = `INSERT INTO kept VALUES ($1)`
	selectKept = `SELECT COALESCE(string_agg(n::text, ',' ORDER BY n), '') FROM kept`
)

func startPair(t *testing.T, mode Replication) (primary, standby *Cluster) {
	t.Helper()
	primary = startCluster(t, Options{})
	standby, err := primary.StartStandby(t.Context(), mode)
	check(t, err)
	t.Cleanup(func() { check(t, standby.Stop()) })
	return primary, standby
}

func TestAStandbyHasWhatIsReplicatedAndTakesWritesOncePromoted(t *testing.T) {
	primary, standby := startPair(t, Asynchronous)
	conn := connect(t, primary.DSN("postgres"))
	execute(t, conn, createKept)
	execute(t, conn, insertKept, 1)
	check(t, primary.AwaitReplicated(t.Context()))
	eventually(t, 10*time.Second, "the standby shows the row", func() bool {
		var n string
		other := connect(t, standby.DSN("postgres"))
		return other.QueryRow(t.Context(), selectKept).Scan(&n) == nil && n == "1"
	})
	if _, err := connect(t, standby.DSN("postgres")).Exec(t.Context(), insertKept, 2); err == nil {
		t.Error("a standby takes writes")
	}
	check(t, primary.Kill())
	check(t, standby.Promote(t.Context()))
	conn = connect(t, standby.DSN("postgres"))
	execute(t, conn, insertKept, 3)
	if got := queryText(t, conn, selectKept); got != "1,3" {
		t.Errorf("the promoted standby holds %s", got)
	}
	if primary.Addr() == standby.Addr() || primary.Folder() == standby.Folder() {
		t.Error("primary and standby share an address or a folder")
	}
}

// A held sender makes the loss of an asynchronous failover certain: what was acknowledged meanwhile is gone, what was before is there.
func TestWhatIsAcknowledgedWhileReplicationIsHeldIsLostByAFailover(t *testing.T) {
	primary, standby := startPair(t, Asynchronous)
	conn := connect(t, primary.DSN("postgres"))
	execute(t, conn, createKept)
	execute(t, conn, insertKept, 1)
	check(t, primary.AwaitReplicated(t.Context()))
	check(t, primary.Hold(t.Context(), WALSender))
	execute(t, conn, insertKept, 2)
	check(t, primary.Kill())
	check(t, standby.Promote(t.Context()))
	if got := queryText(t, connect(t, standby.DSN("postgres")), selectKept); got != "1" {
		t.Errorf("the promoted standby holds %s", got)
	}
}

func TestAHeldSenderGoesOnAfterResume(t *testing.T) {
	primary, _ := startPair(t, Asynchronous)
	conn := connect(t, primary.DSN("postgres"))
	check(t, primary.Hold(t.Context(), WALSender))
	execute(t, conn, createKept)
	check(t, primary.Resume())
	check(t, primary.AwaitReplicated(t.Context()))
}

func TestASynchronousCommitWaitsForItsStandbyAndIsThereAfterAFailover(t *testing.T) {
	primary, standby := startPair(t, Synchronous)
	conn := connect(t, primary.DSN("postgres"))
	execute(t, conn, createKept)
	execute(t, conn, insertKept, 1)
	check(t, primary.Hold(t.Context(), WALSender))
	impatient, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := conn.Exec(impatient, insertKept, 2); err == nil {
		t.Error("a commit was acknowledged that the standby does not have")
	}
	check(t, primary.Kill())
	check(t, standby.Promote(t.Context()))
	conn = connect(t, standby.DSN("postgres"))
	execute(t, conn, insertKept, 3) // waits for nobody any more
	if got := queryText(t, conn, selectKept); got != "1,3" {
		t.Errorf("the promoted standby holds %s", got)
	}
}

// SIGKILL leaves what the kernel has; what only the server's memory has is lost.
func TestAHeldLogWriterLosesCommitsThatDoNotWaitForTheDisk(t *testing.T) {
	cluster := startCluster(t, Options{})
	conn := connect(t, cluster.DSN("postgres"))
	execute(t, conn, createKept)
	execute(t, conn, insertKept, 1)
	check(t, cluster.AlterSystem(t.Context(), map[string]string{"synchronous_commit": "off"}))
	eventually(t, 10*time.Second, "the setting is in force", func() bool {
		return queryText(t, conn, `SHOW synchronous_commit`) == "off"
	})
	check(t, cluster.Hold(t.Context(), WALWriter))
	execute(t, conn, insertKept, 2)
	check(t, cluster.Kill())
	check(t, cluster.Restart(t.Context()))
	check(t, cluster.ResetSystem(t.Context(), "synchronous_commit"))
	conn = connect(t, cluster.DSN("postgres"))
	if got := queryText(t, conn, selectKept); got != "1" {
		t.Errorf("after the crash the table holds %s", got)
	}
	eventually(t, 10*time.Second, "the setting is reset", func() bool {
		return queryText(t, conn, `SHOW synchronous_commit`) == "on"
	})
}

func TestAHeldClusterCanBeEndedInEveryWay(t *testing.T) {
	primary, standby := startPair(t, Asynchronous)
	check(t, primary.Hold(t.Context(), WALSender))
	check(t, primary.Halt(t.Context()))
	check(t, primary.Restart(t.Context()))
	check(t, primary.Hold(t.Context(), WALWriter))
	check(t, primary.Stop())
	check(t, standby.Stop())
	for _, c := range []*Cluster{primary, standby} {
		if !missing(c.Folder()) {
			t.Errorf("%s is still there", c.Folder())
		}
	}
}

func TestAPasswordIsNotAmongTheStandbysArguments(t *testing.T) {
	_, standby := startPair(t, Asynchronous)
	line, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(standby.PID()), "cmdline"))
	check(t, err)
	if strings.Contains(string(line), standby.password) {
		t.Error("everybody may read the password")
	}
}

func TestAFailedStandbyLeavesNothing(t *testing.T) {
	base := openFolder(t)
	primary := startCluster(t, Options{Dir: base})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := primary.StartStandby(ctx, Asynchronous); err == nil {
		t.Fatal("a standby was started within a millisecond")
	}
	left, err := filepath.Glob(filepath.Join(base, folderPrefix+"*"))
	check(t, err)
	if len(left) != 1 || left[0] != primary.Folder() {
		t.Errorf("beside the primary's folder there is %v", left)
	}
}

func TestNothingIsHeldWhereThereIsNoSuchProcess(t *testing.T) {
	cluster := startCluster(t, Options{})
	if err := cluster.Hold(t.Context(), WALSender); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("got %v", err)
	}
}
