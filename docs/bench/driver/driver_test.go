package main

import (
	"context"
	"math"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A request that was due a time t into the stall waits at least for the rest of it, whoever was free to send it and however slow this machine is.
func TestTheDriversFigureForAStallIsNeverBelowTheTruth(t *testing.T) {
	const rate, length, stalled = 200, 2 * time.Second, 500 * time.Millisecond
	for _, clients := range []int{2, unbounded} {
		h := &handler{}
		server := httptest.NewServer(h)
		h.stall.Store(&stall{after: length / 2, length: stalled})
		a := attack{target: server.URL, history: filepath.Join(t.TempDir(), "h.gz"), clients: clients, rate: rate, length: length}
		_, err := a.run(context.Background(), func() {})
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		f, err := fromHistory(a.history)
		if err != nil {
			t.Fatal(err)
		}
		truth := stalled - length/100 - 2*time.Second/rate // within two arrivals, since the stall need not begin at one
		if f.requests != rate*2 || time.Duration(f.response.p99) < truth {
			t.Errorf("%d clients: %d requests, intended-time p99 %v, the truth %v", clients, f.requests, time.Duration(f.response.p99), truth)
		}
	}
}

func TestTimesAreNearestRank(t *testing.T) {
	ns := make([]int64, 200)
	for i := range ns {
		ns[i] = int64(200 - i)
	}
	if got := timesOf(ns); got != (times{p50: 100, p99: 198, most: 200}) {
		t.Errorf("%+v", got)
	}
}

func TestASlopeIsFoundWithWhatItMayBeOffBy(t *testing.T) {
	var samples []sample
	for i := range 60 {
		samples = append(samples, sample{At: float64(10 * i), Resident: 50 + 0.01*float64(10*i) + 0.5*float64(i%2)})
	}
	slope, off := fit(samples, resident)
	if math.Abs(slope-0.01) > off || off > 0.001 {
		t.Errorf("slope %v ± %v, want 0.01", slope, off)
	}
	if n := len(perMinute(samples)); n != 10 {
		t.Errorf("%d minutes", n)
	}
}

func TestAMachineIsIdleOnlyWhereNothingElseUsedIt(t *testing.T) {
	const before, span = time.Hour, 10 * time.Second
	at := func(busy, stolen time.Duration) machine {
		return machine{total: before + span, busy: before/2 + busy, stolen: stolen}
	}
	start := machine{total: before, busy: before / 2}
	for _, c := range []struct {
		now  machine
		ours time.Duration
		want bool
	}{
		{at(4*time.Second, 0), 4 * time.Second, true},
		{at(4*time.Second, 0), 3 * time.Second, false},                    // others took a second
		{at(4*time.Second, 100*time.Millisecond), 4 * time.Second, false}, // the host took 1 %
	} {
		if d := c.now.since(start, c.ours); d.idle() != c.want {
			t.Errorf("%+v: %+v", c, d)
		}
	}
}

func TestK6IsAskedForWhatTheOthersAreAskedFor(t *testing.T) {
	closed := k6Script("http://h", load{clients: 32, length: 3 * time.Second})
	open := k6Script("http://h", load{clients: 32, rate: 500, length: 10 * time.Second})
	for script, want := range map[string]string{
		closed: `executor: "constant-vus", vus: 32, duration: "3000ms"`,
		open:   `executor: "constant-arrival-rate", rate: 500, timeUnit: "1s", preAllocatedVUs: 32, duration: "10000ms"`,
	} {
		if !strings.Contains(script, want) || !strings.Contains(script, `http.post("http://h/api/trading/orders"`) {
			t.Errorf("no %s in\n%s", want, script)
		}
	}
}
