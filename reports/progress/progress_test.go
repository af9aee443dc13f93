package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buffer is a writer that a display's goroutine and the test share.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *buffer) await(t *testing.T, want string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(b.String(), want) {
		if time.Now().After(deadline) {
			t.Fatalf("never wrote %q, but: %q", want, b.String())
		}
		time.Sleep(time.Millisecond) // between looks at the condition
	}
}

func addFromMany(p *Progress, goroutines, each int) {
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				p.Add(1)
			}
		})
	}
	all.Wait()
}

func TestElsewhereThanATerminalPlainLinesAreWritten(t *testing.T) {
	var out buffer
	p := New(&out, Options{Every: time.Millisecond})
	p.Phase("race", 1000)
	addFromMany(p, 8, 100)
	out.await(t, "race: 800 of 1000 (80 %)")
	p.Phase("settle", 0)
	p.Add(3)
	out.await(t, "settle: 3, ")
	p.Done()
	p.Done()
	if s := out.String(); strings.ContainsAny(s, "\r\x1b") || !strings.Contains(s, "race: ended after") || !strings.Contains(s, ", 3 done") {
		t.Fatalf("not plain or not complete: %q", s)
	}
}

func TestOnATerminalEveryPhaseGetsABarThatEnds(t *testing.T) {
	var out buffer
	p := New(&out, Options{Terminal: true})
	p.Phase("race", 100)
	addFromMany(p, 4, 25)
	p.Phase("given up", 100)
	p.Add(40)
	p.Phase("overrun", 10)
	p.Add(20)
	p.Phase("unknown total", 0)
	p.Add(7)
	p.Done()
	for _, want := range []string{"race", "100/100", "given up", "40/100", "overrun", "20/20", "unknown total"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("bars lack %q: %q", want, out.String())
		}
	}
}

func TestQuietWritesNothing(t *testing.T) {
	var out buffer
	p := New(&out, Options{Terminal: true, Quiet: true, Every: time.Millisecond})
	p.Phase("race", 1000)
	addFromMany(p, 4, 100)
	p.Done()
	if out.String() != "" {
		t.Fatalf("wrote %q", out.String())
	}
}

func TestALineSaysRateAndTimeLeft(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	l := &lines{w: &out, now: func() time.Time { return now }}
	l.begin("race", 300)
	l.update(0)
	now = now.Add(10 * time.Second)
	l.update(100)
	now = now.Add(20 * time.Second)
	l.end(300)
	want := "race: 300 to do\nrace: 0 of 300 (0 %), 0/s, unknown left\nrace: 100 of 300 (33 %), 10/s, 20s left\nrace: ended after 30s, 300 done, 10/s\n"
	if out.String() != want {
		t.Fatalf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A run has several parts that each end with Done; the second must be seen as well as the first.
func TestAPhaseAfterDoneIsShownLikeTheFirst(t *testing.T) {
	for name, o := range map[string]Options{"bars": {Terminal: true}, "lines": {}} {
		var out buffer
		p := New(&out, o)
		for _, phase := range []string{"start", "race", "check"} {
			p.Phase(phase, 10)
			p.Add(10)
			p.Done()
		}
		for _, want := range []string{"start", "race", "check"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s lack %q: %q", name, want, out.String())
			}
		}
	}
}

func TestEventsCarryWhatADisplayWouldShow(t *testing.T) {
	var mu sync.Mutex
	var got []Event
	seen := make(chan struct{}, 1)
	p := New(nil, Options{Every: time.Millisecond, Events: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, e)
		if e.Kind == Updated && e.Done == 3 {
			select {
			case seen <- struct{}{}:
			default:
			}
		}
	}})
	p.Phase("race", 4)
	p.Add(3)
	<-seen
	p.Add(1)
	p.Done()
	first, last := got[0], got[len(got)-1]
	if first.Kind != Begun || first.Name != "race" || first.Total != 4 || last.Kind != Ended || last.Done != 4 || last.Took <= 0 {
		t.Errorf("first %+v, last %+v", first, last)
	}
}

func TestLinesBesideBarsKeepTheirOrderAndNoneIsLost(t *testing.T) {
	var out, stdout buffer
	p := New(&out, Options{Terminal: true})
	w := p.Above(&stdout, true)
	write := func(line string) {
		if _, err := w.Write([]byte(line)); err != nil {
			t.Error(err)
		}
	}
	write("before\n")
	p.Phase("zoo", 2)
	write("one\n")
	write("two\n")
	p.Done()
	write("after\n")
	if got := stdout.String(); got != "before\nafter\n" {
		t.Errorf("straight to the terminal went %q", got)
	}
	if one, two := strings.Index(out.String(), "one\n"), strings.Index(out.String(), "two\n"); one < 0 || two < one {
		t.Errorf("above the bars stands %q", out.String())
	}
	if other := New(&out, Options{}).Above(&stdout, true); other != &stdout {
		t.Error("plain lines keep stdout to itself")
	}
}
