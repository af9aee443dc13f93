package subject

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestALifeOfRecordsReachesTheContractAndTheServer(t *testing.T) {
	spec := Spec{TTL: map[string]time.Duration{"order": time.Hour}}
	if err := spec.Validate(); err != nil {
		t.Fatal(err)
	}
	order, _ := spec.Contract().Route("order")
	roll, _ := spec.Contract().Route("roll")
	if order.TTL != time.Hour || roll.TTL != 24*time.Hour {
		t.Errorf("orders live %v, rolls %v", order.TTL, roll.TTL)
	}
	args := Bundled{Variant: "no-fence"}.args(spec.WithDefaults(), "addr", "file")
	for _, want := range []string{"POST /api/trading/orders=1h0m0s", "no-fence"} {
		if !slices.Contains(args, want) {
			t.Errorf("%q lacks %q", args, want)
		}
	}
}

func TestAnImpossibleSpecIsRefused(t *testing.T) {
	for want, s := range map[string]Spec{
		"subject.replicas":  {Replicas: 17},
		"subject: ":         {StaleAfter: -1},
		"subject.isolation": {Isolation: "chaos"},
		"subject.standby":   {Standby: "sync"},
		`subject.isolation: "serializable" is a session's`: {Isolation: "serializable", PgBouncer: true},
		"subject.ttl: ":     {TTL: map[string]time.Duration{"cancel": time.Hour}},
		"subject.ttl.order": {TTL: map[string]time.Duration{"order": 8 * 24 * time.Hour}},
	} {
		if err := s.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want an error that begins with %q", err, want)
		}
	}
}

func TestAServerThatExitsIsReportedWithItsLastWords(t *testing.T) {
	dir := t.TempDir()
	r := NewReplica(1, dir, func(string, string) Command {
		return Command{Path: "/bin/sh", Args: []string{"-c", "echo no database; exit 3"}, Log: filepath.Join(dir, "log")}
	})
	if err := r.Start(t.Context()); !errors.Is(err, ErrNotReady) || !strings.Contains(err.Error(), "no database") {
		t.Errorf("got %v", err)
	}
	if r.Restarted() {
		t.Error("it counts as restarted")
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRedisIsWhereItSaysAndEndsWhenKilled(t *testing.T) {
	redis, err := NewRedis(filepath.Join(t.TempDir(), "redis.log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := redis.Kill(); err != nil {
		t.Errorf("before its start: %v", err)
	}
	for range 2 {
		if err := redis.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !pongs(t.Context(), redis.Addr()) {
			t.Error("it does not answer")
		}
		if err := redis.Kill(); err != nil {
			t.Fatal(err)
		}
		if pongs(t.Context(), redis.Addr()) {
			t.Error("it answers after its end")
		}
	}
}

func TestPauseReturnsWhenNothingRuns(t *testing.T) {
	p, err := Launch(Command{Path: "/bin/sh", Args: []string{"-c", "while :; do :; done"}, Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
		if !p.stopped() {
			t.Fatal("it runs")
		}
		if err := p.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.Pause(); err != nil {
		t.Errorf("after its end: %v", err)
	}
}
