package fault

import (
	"syscall"
	"testing"
	"time"
)

const (
	soon   = 300 * time.Millisecond // a server that stands still has not answered by then
	always = 10 * time.Second
)

func TestAKilledReplicaIsBackOnItsAddress(t *testing.T) {
	replicas := startReplicas(t, 2)
	w := World{Replicas: replicas}
	url, before := replicas[0].URL(), replicas[0].Process().PID()
	healed := struck(t, Spec{Kind: "replica-kill", On: Replica, Replica: 1}, w, func() {
		if _, ok := ask[int](t, url+"/pid", soon); ok {
			t.Error("the killed server answers")
		}
		if _, ok := ask[int](t, replicas[1].URL()+"/pid", always); !ok {
			t.Error("the other server does not answer")
		}
	})
	pid, ok := ask[int](t, url+"/pid", always)
	if !ok || pid == before || !replicas[0].Restarted() || replicas[1].Restarted() {
		t.Errorf("after healing: process %d, answered %t", pid, ok)
	}
	if healed.On != "replica 1" {
		t.Errorf("it struck %q", healed.On)
	}
}

func TestAPausedReplicaGoesOnWhereItStood(t *testing.T) {
	replicas := startReplicas(t, 2)
	before := replicas[1].Process().PID()
	struck(t, Spec{Kind: "replica-pause", Replica: 2}, World{Replicas: replicas}, func() {
		if _, ok := ask[int](t, replicas[1].URL()+"/pid", soon); ok {
			t.Error("the paused server answers")
		}
	})
	if pid, ok := ask[int](t, replicas[1].URL()+"/pid", always); !ok || pid != before {
		t.Errorf("after healing: process %d, answered %t", pid, ok)
	}
}

func TestARollingRestartLeavesAllButOneRunning(t *testing.T) {
	replicas := startReplicas(t, 3)
	var before []int
	for _, r := range replicas {
		before = append(before, r.Process().PID())
	}
	healed := struck(t, Spec{Kind: "replica-restart"}, World{Replicas: replicas}, func() {})
	for i, r := range replicas {
		if pid, ok := ask[int](t, r.URL()+"/pid", always); !ok || pid == before[i] {
			t.Errorf("replica %d: process %d, answered %t", r.Number, pid, ok)
		}
		if syscall.Kill(before[i], 0) == nil {
			t.Errorf("the old process of replica %d still runs", r.Number)
		}
	}
	if healed.Bit != 3 || healed.On != "replicas, all" {
		t.Errorf("%d processes, on %q", healed.Bit, healed.On)
	}
}

func TestAFlagIsChangedOnEveryReplicaAndChangedBack(t *testing.T) {
	replicas := startReplicas(t, 2)
	var told notes
	closed := func() (n int) {
		for _, r := range replicas {
			if flags, _ := ask[map[string]bool](t, r.URL()+"/admin/flags", always); flags["new_orders_disabled"] {
				n++
			}
		}
		return n
	}
	w := World{Replicas: replicas, AdminToken: testToken, Note: told.add}
	struck(t, Spec{Kind: "flag", Flag: "new_orders_disabled", Value: true}, w, func() {
		if n := closed(); n != 2 {
			t.Errorf("%d servers have it, want both", n)
		}
	})
	if n := closed(); n != 0 {
		t.Errorf("after healing %d servers have it", n)
	}
	if len(told.list) != 2 || told.list[0] != "flag new_orders_disabled=true" || told.list[1] != "flag new_orders_disabled=false" {
		t.Errorf("the checks are told %q", told.list)
	}
}
