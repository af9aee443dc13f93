package drive

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/plan"
)

func arrivals(rate float64, length time.Duration, clients int) plan.Phase {
	return plan.Phase{Name: "open", Shape: "traffic", Loop: plan.Open, Arrivals: plan.Poisson, Rate: rate, For: plan.Duration(length), Clients: clients}
}

func TestAnOpenLoopSendsWhenOperationsAreDue(t *testing.T) {
	r := setUp(t, []string{serve(t, ok)}, arrivals(500, time.Second, 64))
	r.MaxLate = time.Minute
	r.drive(t).only(t, history.Returned, "", 500)
	begun := r.notes[0].AtNS
	for _, a := range r.attempts {
		// The start is read after the note is written: due times can only be later than the plan's.
		if late := a.IntendedNS - begun - r.ops[a.Op].DueNS; late < 0 || late > int64(time.Second) {
			t.Fatalf("operation %d was due %v off its plan", a.Op, time.Duration(late))
		}
		if a.SentNS < a.IntendedNS {
			t.Fatalf("operation %d was sent too early", a.Op)
		}
	}
	for _, s := range r.result.Latency.Summaries() {
		if s.Kind == latency.Lateness && s.Count != 500 {
			t.Errorf("%+v", s)
		}
	}
	if len(r.result.Doubts) > 0 {
		t.Errorf("doubts: %q", r.result.Doubts)
	}
}

// Those of a group and twins are held back too, though several goroutines send them.
func TestWhatIsHandedOverEarlyIsNotSentEarly(t *testing.T) {
	storm, twins := arrivals(400, 250*time.Millisecond, 64), arrivals(400, 250*time.Millisecond, 64)
	storm.Name, storm.Shape, storm.Duplicates = "storm", "storm", 4
	twins.Name, twins.Manners = "twins", plan.Manners{Twin: 1}
	url := serve(t, ok)
	r := setUp(t, []string{url, url}, storm, twins)
	r.MaxLate = time.Minute
	r.drive(t)
	begun := map[string]int64{}
	for _, n := range r.notes {
		if n.Kind == "phase" {
			begun[n.Text] = n.AtNS
		}
	}
	for _, a := range r.attempts {
		o := r.ops[a.Op]
		if a.SentNS < begun[o.Phase]+o.DueNS {
			t.Fatalf("%s: operation %d was sent %v early", o.Phase, a.Op, time.Duration(begun[o.Phase]+o.DueNS-a.SentNS))
		}
	}
	if len(r.attempts) < 300 {
		t.Fatalf("%d attempts", len(r.attempts))
	}
}

func TestAHeadStartIsAtMostHalfTheGap(t *testing.T) {
	for gap, want := range map[time.Duration]time.Duration{0: 0, 100: 50, 60 * time.Microsecond: 30 * time.Microsecond, time.Second: ahead} {
		if got := headStart(gap); got != want {
			t.Errorf("gap %v: %v, want %v", gap, got, want)
		}
	}
}

// A server that takes long to connect to must not bring the generator's own punctuality into doubt.
func TestLatenessIsTheGeneratorsAlone(t *testing.T) {
	series := lateness("open")
	r := setUp(t, []string{"http://127.0.0.1:1"}, steady(1, 1))
	defer r.Writer.Close()
	for _, c := range []struct{ taken, want time.Duration }{
		{-time.Minute, 0},                   // taken up in time, connected after it was due
		{-time.Minute / 2, time.Minute / 2}, // taken up late
	} {
		d := &driver{Config: Config{Zero: time.Now().Add(-time.Hour), Writer: r.Writer}}
		l := d.newLane()
		now := time.Duration(d.now())
		due := now - time.Minute
		l.punctual(&try{intended: int64(due), taken: int64(now + c.taken), late: []latency.Series{series}})
		l.latency.Flush()
		if s := d.latency.Summary(series); s.Count != 1 || s.Max != c.want {
			t.Errorf("%+v, want %v", s, c.want)
		}
	}
}

// Two clients cannot keep up with 200 operations a second of 50 ms each. What waits for them counts from when it was due.
func TestWaitingForAFreeClientCountsAsResponseTimeAndIsDoubted(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		<-time.After(50 * time.Millisecond)
		ok(w, r)
	})
	r := setUp(t, []string{url}, arrivals(200, 200*time.Millisecond, 2)).drive(t)
	r.only(t, history.Returned, "", 40)
	response := r.result.Latency.Summary(latency.Series{Group: latency.All, Kind: latency.Response})
	if response.Max < 500*time.Millisecond {
		t.Errorf("the slowest response took %v, as if nobody had waited", response.Max)
	}
	if len(r.result.Doubts) != 1 || !strings.Contains(r.result.Doubts[0], "all clients were busy") {
		t.Errorf("doubts: %q", r.result.Doubts)
	}
}

func TestAnOpenLoopEndsAtItsBound(t *testing.T) {
	ph := arrivals(10, 5*time.Minute, 4)
	ph.Bound = 50 * ms
	r := setUp(t, []string{serve(t, ok)}, ph)
	r.MaxLate = time.Minute
	if r.drive(t); len(r.result.Doubts) != 1 || !strings.Contains(r.result.Doubts[0], "reached its bound") {
		t.Errorf("doubts: %q", r.result.Doubts)
	}
}

func TestLatenciesAreGroupedByRouteAndAnswer(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Idempotency-Replayed", "true")
		ok(w, r)
	})
	r := setUp(t, []string{url}, steady(10, 1)).drive(t)
	for _, group := range []string{latency.All, "order replay"} {
		for _, kind := range []latency.Kind{latency.Response, latency.Service} {
			if s := r.result.Latency.Summary(latency.Series{Group: group, Kind: kind}); s.Count != 10 {
				t.Errorf("%s %s has %d samples", group, kind, s.Count)
			}
		}
	}
}

type tally struct {
	phases []string
	total  int64
	n      int64
	done   int
}

func (p *tally) Phase(name string, total int64) {
	p.phases, p.total = append(p.phases, name), p.total+total
}
func (p *tally) Add(n int64) { p.n += n }
func (p *tally) Done()       { p.done++ }

func TestProgressAddsUp(t *testing.T) {
	var p tally
	r := setUp(t, []string{serve(t, ok)}, steady(30, 3), race(5, 4, 2))
	r.Progress = &p
	r.drive(t)
	if p.n != 50 || p.total != 50 || p.done != 2 || len(p.phases) != 2 {
		t.Errorf("%+v", p)
	}
}
