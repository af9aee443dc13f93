package drive

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = plan.Duration(time.Millisecond)

// run is one drive of a test and what came of it.
type run struct {
	Config
	ctx      context.Context
	result   Result
	attempts []history.Attempt
	notes    []history.Note
	ops      map[int64]history.Operation
}

// setUp plans the phases against the targets. Every retry policy makes attempts without waiting.
func setUp(t testing.TB, targets []string, phases ...plan.Phase) *run {
	t.Helper()
	c := contract.ADR0138(30*time.Second, 2*time.Second)
	p, err := plan.Build(plan.Input{
		Seed: 1, Contract: c, Accounts: []plan.Account{{ID: 1}, {ID: 2}},
		Spec: plan.Spec{Phases: phases, Retries: map[string]plan.Retry{"thrice": {Attempts: 3}, "polite": {Attempts: 2, RetryAfter: true}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := history.Create(filepath.Join(t.TempDir(), "history.gz"))
	if err != nil {
		t.Fatal(err)
	}
	r := &run{ctx: context.Background(), ops: map[int64]history.Operation{}}
	r.Config = Config{Plan: p, Targets: targets, Writer: w, Zero: time.Now(), Contract: c}
	r.Credentials = func(user int64) string { return "token-" + strconv.FormatInt(user, 10) }
	for o := range p.Operations() {
		r.ops[o.ID] = o
	}
	return r
}

func (r *run) drive(t testing.TB) *run {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.gz")
	w, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Writer.Close()
	r.Writer = w
	if r.result, err = Run(r.ctx, r.Config); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for e, err := range history.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Attempt != nil {
			r.attempts = append(r.attempts, *e.Attempt)
		} else if e.Note != nil {
			r.notes = append(r.notes, *e.Note)
		}
	}
	return r
}

func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func ok(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"ok":true}`)
}

func race(keys, duplicates, clients int) plan.Phase {
	return plan.Phase{Name: "race", Shape: "race", Keys: keys, Duplicates: duplicates, Clients: clients}
}

func steady(keys, clients int) plan.Phase {
	return plan.Phase{Name: "steady", Shape: "traffic", Keys: keys, Clients: clients}
}

func (r *run) outcomes() map[string]int {
	n := map[string]int{}
	for _, a := range r.attempts {
		n[string(a.Outcome)+" "+a.Cause]++
	}
	return n
}

func (r *run) only(t testing.TB, outcome history.Outcome, cause string, want int) {
	t.Helper()
	if got := r.outcomes()[string(outcome)+" "+cause]; got != want || len(r.attempts) != want {
		t.Errorf("want %d times %s %s only, got %v", want, outcome, cause, r.outcomes())
	}
}

func TestEveryOperationIsSentOnceAsPlanned(t *testing.T) {
	var mu sync.Mutex
	seen := map[int64]string{}
	one := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id, _ := strconv.ParseInt(r.Header.Get(HeaderOperation), 10, 64)
		mu.Lock()
		seen[id] += r.Method + r.URL.Path + r.Header.Get("Authorization") + r.Header.Get("Idempotency-Key") + string(body)
		mu.Unlock()
		ok(w, r)
	})
	r := setUp(t, []string{one, one}, steady(200, 4)).drive(t)
	r.only(t, history.Returned, "", 200)
	for id, o := range r.ops {
		want := o.Method + o.Path + "Bearer token-" + strconv.FormatInt(o.User, 10) + o.Keys[0] + string(o.Body)
		if seen[id] != want {
			t.Errorf("operation %d arrived as %q, want %q", id, seen[id], want)
		}
	}
	replicas := map[int]int{}
	for _, a := range r.attempts {
		replicas[a.Replica]++
		if a.SentNS < a.IntendedNS || a.DoneNS < a.SentNS || a.Status != 201 || string(a.Body) != `{"ok":true}` {
			t.Fatalf("%+v", a)
		}
	}
	if replicas[1] != 100 || replicas[2] != 100 {
		t.Errorf("replicas got %v", replicas)
	}
	if len(r.result.Doubts) > 0 || len(r.result.Unsettled) > 0 {
		t.Errorf("%+v", r.result)
	}
}

// A connection that the server closes after each answer, without saying so, tempts a client library into sending again.
func TestNothingIsSentTwiceWhenKeptConnectionsDie(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	accepted := 0
	wg.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			accepted++
			wg.Go(func() {
				defer c.Close()
				for i := 0; ; i++ {
					req := readRequest(c)
					if req == "" {
						return
					}
					mu.Lock()
					seen[req]++
					mu.Unlock()
					if i == 1 {
						return // the second request of a connection is taken and never answered
					}
					_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")
				}
			})
		}
	})
	r := setUp(t, []string{"http://" + listener.Addr().String()}, steady(50, 1)).drive(t)
	listener.Close()
	wg.Wait()
	for id, n := range seen {
		if n != 1 {
			t.Errorf("operation %s arrived %d times", id, n)
		}
	}
	if got := r.outcomes(); got["returned "] != 25 || got["lost reset"] != 25 {
		t.Errorf("%v", got)
	}
}

// readRequest returns the operation's id.
func readRequest(c net.Conn) string {
	req, err := http.ReadRequest(newAnswerReaderForTest(c))
	if err != nil {
		return ""
	}
	_, _ = io.Copy(io.Discard, req.Body)
	return req.Header.Get(HeaderOperation)
}

func TestAConnectionClosedWhileIdleIsReplacedBeforeAnythingIsSent(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(ok))
	defer s.Close()
	r := setUp(t, []string{s.URL}, steady(1, 1))
	d, err := newDriver(r.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Writer.Close()
	l := d.newLane()
	defer l.close()
	op := r.ops[1]
	if a, _ := l.attempt(r.ctx, try{op: &op, n: 1}); a.Outcome != history.Returned {
		t.Fatalf("%+v", a)
	}
	old := l.conns[0]
	s.CloseClientConnections()
	old.idle = time.Time{}
	for !hasInput(old.net) {
	}
	if a, _ := l.attempt(r.ctx, try{op: &op, n: 2}); a.Outcome != history.Returned {
		t.Fatalf("%+v", a)
	}
	if l.conns[0] == old {
		t.Error("the dead connection was used again")
	}
}

func TestARefusedConnectionIsUnsent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	r := setUp(t, []string{"http://" + listener.Addr().String()}, steady(5, 2)).drive(t)
	r.only(t, history.Unsent, history.CauseRefused, 5)
}

func TestADeadlineMakesAnAttemptLost(t *testing.T) {
	block := make(chan struct{})
	url := serve(t, func(http.ResponseWriter, *http.Request) { <-block })
	defer close(block)
	ph := steady(3, 3)
	ph.Deadline = 1000 * ms
	r := setUp(t, []string{url}, ph).drive(t)
	r.only(t, history.Lost, history.CauseTimeout, 3)
	if len(r.result.Unsettled) != 3 {
		t.Errorf("unsettled: %v", r.result.Unsettled)
	}
}

func TestAnImpatientClientHangsUpAndAsksAgainWithTheSameKey(t *testing.T) {
	type first struct{}
	hungUp := make(chan struct{}, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Context().Value(first{}) == nil {
			ok(w, r)
			return
		}
		<-r.Context().Done() // only the client's hanging up ends this
		hungUp <- struct{}{}
	}))
	connections := 0
	s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		if connections++; connections == 1 {
			return context.WithValue(ctx, first{}, true)
		}
		return ctx
	}
	s.Start()
	defer s.Close()
	ph := steady(1, 1)
	ph.Impatient, ph.GiveUp, ph.Deadline, ph.Retry = 1, 20*ms, 30_000*ms, "thrice"
	r := setUp(t, []string{s.URL}, ph).drive(t)
	<-hungUp
	if len(r.attempts) != 2 || r.attempts[0].Cause != history.CauseGaveUp || r.attempts[1].Outcome != history.Returned || r.attempts[1].N != 2 {
		t.Errorf("%+v", r.attempts)
	}
}

func TestAGroupIsInFlightTogether(t *testing.T) {
	const duplicates = 24
	for range 5 {
		var waiting atomic.Int64
		all := make(chan struct{})
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if waiting.Add(1)%duplicates == 0 {
				all <- struct{}{}
				for range duplicates - 2 {
					all <- struct{}{}
				}
			} else {
				<-all // nobody is answered before all have arrived
			}
			ok(w, r)
		})
		r := setUp(t, []string{url, url}, race(3, duplicates, 1)).drive(t)
		r.only(t, history.Returned, "", 3*duplicates)
	}
}

func TestRetriesFollowThePolicyAndEndAtAFinalAnswer(t *testing.T) {
	var mu sync.Mutex
	n := map[string]int{}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(HeaderOperation)
		mu.Lock()
		n[id]++
		count := n[id]
		mu.Unlock()
		switch {
		case id == "1" && count == 2:
			ok(w, r)
		case id == "2":
			w.WriteHeader(http.StatusPaymentRequired)
		default:
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	ph := steady(3, 1)
	ph.Retry = "thrice"
	r := setUp(t, []string{url}, ph).drive(t)
	if n["1"] != 2 || n["2"] != 1 || n["3"] != 3 {
		t.Errorf("attempts: %v", n)
	}
	if len(r.result.Unsettled) != 1 || r.result.Unsettled[0] != 3 {
		t.Errorf("unsettled: %v", r.result.Unsettled)
	}
}

func TestRetryAfterIsHonouredWhereThePolicySaysSo(t *testing.T) {
	var n atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		ok(w, r)
	})
	ph := steady(1, 1)
	ph.Retry = "polite"
	r := setUp(t, []string{url}, ph).drive(t)
	if len(r.attempts) != 2 || r.attempts[1].SentNS-r.attempts[0].DoneNS < int64(time.Second) || r.attempts[0].RetryAfter != "1" {
		t.Errorf("%+v", r.attempts)
	}
}

func TestSettlingAsksUntilEveryKeyHasAFinalAnswer(t *testing.T) {
	var healed atomic.Bool
	heal := make(chan struct{})
	var n atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 10 {
			close(heal)
		}
		if n.Load() > 40 {
			healed.Store(true)
		}
		if healed.Load() {
			ok(w, r)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	r := setUp(t, []string{url}, steady(10, 2))
	r.Settle, r.Healed = Settle{Within: 30 * time.Second, Every: 2 * time.Millisecond}, heal
	r.drive(t)
	if len(r.result.Settled) != 10 || len(r.result.Unsettled) != 0 {
		t.Errorf("%+v", r.result)
	}
	for _, a := range r.attempts {
		if a.Settle != (a.N > 1) {
			t.Errorf("%+v", a)
		}
	}
}

func TestSettlingEndsWhenItsPatienceDoes(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	r := setUp(t, []string{url}, steady(4, 2))
	r.Settle = Settle{Within: 50 * time.Millisecond, Every: 5 * time.Millisecond}
	if r.drive(t); len(r.result.Unsettled) != 4 {
		t.Errorf("unsettled: %v", r.result.Unsettled)
	}
}

func TestAnInterruptEndsTheRunSoonAndIsRecorded(t *testing.T) {
	block := make(chan struct{})
	var n atomic.Int64
	ctx, cancel := context.WithCancel(context.Background())
	url := serve(t, func(http.ResponseWriter, *http.Request) {
		if n.Add(1) == 8 {
			cancel()
		}
		<-block
	})
	defer close(block)
	ph := steady(100, 8)
	ph.Deadline, ph.Retry = 60_000*ms, "thrice"
	r := setUp(t, []string{url}, ph)
	r.ctx = ctx
	r.Settle = Settle{Within: time.Minute}
	r.drive(t)
	r.only(t, history.Lost, history.CauseInterrupted, 8)
}

func TestAPhaseEndsAtItsBoundAndSaysSo(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		<-time.After(5 * time.Millisecond)
		ok(w, r)
	})
	ph := steady(5000, 2)
	ph.Bound = 1000 * ms
	r := setUp(t, []string{url}, ph).drive(t)
	if len(r.result.Doubts) != 1 || len(r.attempts) == 0 || len(r.attempts) > 1000 {
		t.Errorf("%d attempts, doubts %q", len(r.attempts), r.result.Doubts)
	}
}

func TestAnOperationComesAfterTheOneThatItNames(t *testing.T) {
	var mu sync.Mutex
	var order []int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.ParseInt(r.Header.Get(HeaderOperation), 10, 64)
		mu.Lock()
		order = append(order, id)
		mu.Unlock()
		ok(w, r)
	})
	r := setUp(t, []string{url}, plan.Phase{Name: "p", Shape: "spellings", Keys: 8, Clients: 4}).drive(t)
	at := map[int64]int{}
	for i, id := range order {
		at[id] = i
	}
	for id, o := range r.ops {
		if o.After != 0 && at[id] < at[o.After] {
			t.Errorf("operation %d came before %d", id, o.After)
		}
	}
}

func TestWaitingForAnOperationEndsWhenItHasEnded(t *testing.T) {
	f := newFinished(1000)
	var wg sync.WaitGroup
	for op := range int64(1000) {
		wg.Go(func() {
			if err := f.await(context.Background(), op+1); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() { f.set(op + 1) })
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if f = newFinished(1); f.await(ctx, 1) == nil {
		t.Error("an operation that has not ended was not waited for")
	}
}
