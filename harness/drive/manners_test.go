package drive

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
)

// rude is a race whose operations all have the same manners.
func rude(keys, duplicates, clients int, m plan.Manners) plan.Phase {
	ph := race(keys, duplicates, clients)
	ph.Manners, ph.Deadline = m, 20_000*ms
	return ph
}

// arrived is what a server read of one request.
type arrived struct {
	id, body, key string
	err           error
}

// listen serves requests that it keeps, and answers those that came whole.
func listen(t testing.TB) (url string, requests func() []arrived) {
	var mu sync.Mutex
	var all []arrived
	var busy sync.WaitGroup
	url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		busy.Add(1)
		defer busy.Done()
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, arrived{r.Header.Get(HeaderOperation), string(body), r.Header.Get("Idempotency-Key"), err})
		mu.Unlock()
		ok(w, r)
	})
	return url, func() []arrived {
		busy.Wait()
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func TestACutBodyIsNeverSentWholeAndTheNextAttemptIs(t *testing.T) {
	url, requests := listen(t)
	ph := rude(20, 1, 4, plan.Manners{CutBody: 1})
	ph.Retry = "thrice"
	r := setUp(t, []string{url}, ph).drive(t)
	if got := r.outcomes(); got["cut gave_up"] != 20 || got["returned "] != 20 {
		t.Fatalf("%v", got)
	}
	for _, a := range r.attempts {
		if cut := a.Outcome == history.Cut; cut != (a.N == 1) || cut != (a.BytesSent > 0) || a.LastByteNS != 0 {
			t.Errorf("%+v", a)
		}
	}
	whole := map[string]int{}
	for _, got := range requests() {
		if got.err == nil {
			whole[got.body+got.key]++
		} else if !errors.Is(got.err, io.ErrUnexpectedEOF) {
			t.Errorf("a cut body ended with %v", got.err)
		}
	}
	for _, o := range r.ops {
		if whole[string(o.Body)+o.Key] != 1 {
			t.Errorf("operation %d arrived whole %d times", o.ID, whole[string(o.Body)+o.Key])
		}
	}
}

func TestWithoutRetriesThePatientClientSendsACutRequestWhole(t *testing.T) {
	url, _ := listen(t)
	r := setUp(t, []string{url}, rude(5, 1, 2, plan.Manners{CutBody: 1}))
	r.Settle = Settle{Within: 20 * time.Second, Every: time.Millisecond}
	r.drive(t)
	if len(r.result.Unsettled) != 0 || len(r.result.Settled) != 5 {
		t.Errorf("%+v", r.result)
	}
}

func TestASlowBodyArrivesWholeAndItsLastByteIsRecorded(t *testing.T) {
	url, requests := listen(t)
	const over = 40 * ms
	r := setUp(t, []string{url}, rude(6, 1, 3, plan.Manners{SlowBody: plan.SlowBody{Share: 1, Over: over}})).drive(t)
	r.only(t, history.Returned, "", 6)
	for _, a := range r.attempts {
		if a.LastByteNS-a.SentNS < int64(over) || a.LastByteNS > a.DoneNS || a.BytesSent != 0 {
			t.Errorf("%+v", a)
		}
	}
	for _, got := range requests() {
		if got.err != nil {
			t.Errorf("operation %s: %v", got.id, got.err)
		}
	}
}

// The connection's deadline and the driver's clock pass at the same time; here both are made to.
func TestARequestWhoseDeadlinePassesBeforeItsLastByteIsCut(t *testing.T) {
	url, _ := listen(t)
	r := setUp(t, []string{url}, rude(1, 1, 1, plan.Manners{}))
	defer r.Writer.Close()
	d, err := newDriver(r.Config)
	if err != nil {
		t.Fatal(err)
	}
	l := d.newLane()
	defer l.close()
	op := r.ops[1]
	if err := l.prepare(r.ctx, &try{op: &op, n: 1}, 0, d.now()); err != nil {
		t.Fatal(err)
	}
	a := history.Attempt{Op: 1, N: 1, Replica: 1}
	p := l.parcel(r.ctx, &a, d.now()+op.DeadlineNS)
	p.send(20)
	p.until = d.now()
	_ = l.conns[0].net.SetDeadline(time.Unix(1, 0))
	p.send(len(p.rest))
	p.await(r.ctx, op.Method, history.CauseTimeout)
	if a.Outcome != history.Cut || a.Cause != history.CauseTimeout || a.BytesSent != 20 || a.LastByteNS != 0 {
		t.Errorf("%+v", a)
	}
}

// crowdOf answers nobody before so many requests are there.
func crowdOf(n int) (http.HandlerFunc, *sync.WaitGroup) {
	var all sync.WaitGroup
	all.Add(n)
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		all.Done()
		all.Wait()
		ok(w, r)
	}, &all
}

func TestTwinsAreOneRequestOnTwoConnectionsAtOneInstant(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	both, _ := crowdOf(2)
	count := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.Header.Get(HeaderOperation)+r.Header.Get("Idempotency-Key")]++
		mu.Unlock()
		both(w, r)
	}
	r := setUp(t, []string{serve(t, count), serve(t, count)}, rude(1, 1, 1, plan.Manners{Twin: 1})).drive(t)
	r.only(t, history.Returned, "", 2)
	a, b := r.attempts[0], r.attempts[1]
	if a.Op != b.Op || a.N+b.N != 3 || a.Replica == b.Replica || a.SentNS != b.SentNS || min(a.LastByteNS, b.LastByteNS) < a.SentNS+int64(twinPause) {
		t.Errorf("%+v\n%+v", a, b)
	}
	if len(seen) != 1 {
		t.Errorf("the twins differ: %v", seen)
	}
}

func TestTwinsInAGroupAreAllInFlightTogether(t *testing.T) {
	const duplicates = 4
	all, _ := crowdOf(2 * duplicates)
	url := serve(t, all)
	r := setUp(t, []string{url, url}, rude(1, duplicates, 1, plan.Manners{Twin: 1})).drive(t)
	r.only(t, history.Returned, "", 2*duplicates)
}

func TestATwinWhoseSiblingCannotConnectGoesAlone(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	url, _ := listen(t)
	r := setUp(t, []string{"http://" + closed.Addr().String(), url}, rude(6, 1, 2, plan.Manners{Twin: 1})).drive(t)
	if got := r.outcomes(); got["returned "] != 6 || got["unsent refused"] != 6 || len(r.result.Unsettled) != 0 {
		t.Errorf("%v, unsettled %v", got, r.result.Unsettled)
	}
}

func TestTwinsCountAsTwoAttemptsOfThePolicy(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	ph := rude(1, 1, 1, plan.Manners{Twin: 1})
	ph.Retry = "thrice"
	r := setUp(t, []string{url}, ph).drive(t)
	if r.only(t, history.Returned, "", 3); len(r.result.Unsettled) != 1 {
		t.Errorf("%+v", r.result)
	}
}

func TestAnInterruptEndsTheRudeSoonToo(t *testing.T) {
	for _, m := range []plan.Manners{{SlowBody: plan.SlowBody{Share: 1, Over: 20_000 * ms}}, {Twin: 1}} {
		ctx, cancel := context.WithCancel(context.Background())
		block := make(chan struct{})
		url := serve(t, func(http.ResponseWriter, *http.Request) { // called when the header is there
			cancel()
			<-block
		})
		r := setUp(t, []string{url}, rude(200, 1, 4, m))
		r.ctx = ctx
		r.drive(t)
		close(block)
		for _, a := range r.attempts {
			if a.Cause != history.CauseInterrupted {
				t.Errorf("%+v", a)
			}
		}
	}
}
