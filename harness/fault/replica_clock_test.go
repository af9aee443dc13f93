package fault

import (
	"testing"
	"time"
)

func TestAClockIsWrongOnTheReplicaThatItNamesAndRightAgainAfterwards(t *testing.T) {
	replicas := startReplicas(t, 2)
	offset := func(replica int) string {
		got, _ := ask[map[string]string](t, replicas[replica-1].URL()+"/admin/clock", always)
		return got["offset"]
	}
	w := World{Replicas: replicas, AdminToken: testToken}
	healed := struck(t, Spec{Kind: "replica-clock", Replica: 2, By: -time.Hour}, w, func() {
		if one, two := offset(1), offset(2); one != "0s" || two != "-1h0m0s" {
			t.Errorf("offsets are %s and %s", one, two)
		}
	})
	if healed.On != "clock of replica 2" || offset(2) != "0s" {
		t.Errorf("healed: %+v, offset %s", healed, offset(2))
	}
	all := struck(t, Spec{Kind: "replica-clock", By: time.Minute}, w, func() {
		if one, two := offset(1), offset(2); one != "1m0s" || two != "1m0s" {
			t.Errorf("offsets are %s and %s", one, two)
		}
	})
	if all.On != "clocks" || all.Bit != 4 {
		t.Errorf("%+v", all)
	}
}

func TestAServerThatIsJustBeingStartedAgainIsWaitedFor(t *testing.T) {
	replicas := startReplicas(t, 1)
	if err := replicas[0].Process().Kill(); err != nil {
		t.Fatal(err)
	}
	strike, err := replicaClock.Strike(Spec{Kind: "replica-clock", By: time.Hour}, World{Replicas: replicas, AdminToken: testToken})
	if err != nil {
		t.Fatal(err)
	}
	injected := make(chan error, 1)
	go func() { injected <- strike.Inject(t.Context()) }()
	if err := replicas[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-injected; err != nil {
		t.Fatal(err)
	}
	if got, _ := ask[map[string]string](t, replicas[0].URL()+"/admin/clock", always); got["offset"] != "1h0m0s" {
		t.Errorf("offset is %v", got)
	}
}

func TestWithoutAnAdminRouteNoClockIsSet(t *testing.T) {
	if _, err := NewTimeline([]Spec{{Kind: "replica-clock", By: time.Hour}}, World{}); err == nil {
		t.Error("accepted")
	}
}
