package history

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func drawAttempt(t *rapid.T) *Attempt {
	small := rapid.Int64Range(-5, 1<<59)
	a := &Attempt{
		Op: small.Draw(t, "op"), N: rapid.IntRange(1, 99).Draw(t, "n"), Replica: rapid.IntRange(0, 3).Draw(t, "replica"),
		IntendedNS: small.Draw(t, "intended"), SentNS: small.Draw(t, "sent"), DoneNS: rapid.Int64().Draw(t, "done"),
		Outcome:    rapid.SampledFrom([]Outcome{Returned, Lost, Unsent, "new"}).Draw(t, "outcome"),
		Cause:      rapid.SampledFrom([]string{"", CauseGaveUp, "a\"b\\c\n\x00\x7fé"}).Draw(t, "cause"),
		Status:     rapid.SampledFrom([]int{0, 200, 409}).Draw(t, "status"),
		Marked:     rapid.Bool().Draw(t, "marked"),
		RetryAfter: rapid.SampledFrom([]string{"", "5", "Wed, 21 Oct 2015 07:28:00 GMT"}).Draw(t, "retry after"),
		Settle:     rapid.Bool().Draw(t, "settle"),
	}
	text := rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) })
	if b := rapid.OneOf(text, rapid.SliceOf(rapid.Byte())).Draw(t, "body"); len(b) > 0 {
		a.Body = b
	}
	return a
}

func drawEvent(t *rapid.T) Event {
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return Event{Fault: &Fault{ID: 1, Name: "path-hang", Phase: FaultBegan, AtNS: rapid.Int64().Draw(t, "at"), Total: true}}
	case 1:
		return Event{Note: &Note{AtNS: 3, Kind: "phase", Text: rapid.String().Draw(t, "text")}}
	}
	return Event{Attempt: drawAttempt(t)}
}

func record(r *Recorder, e Event) {
	switch {
	case e.Attempt != nil:
		r.Attempt(e.Attempt)
	case e.Fault != nil:
		r.w.Fault(*e.Fault)
	default:
		r.w.Note(*e.Note)
	}
}

func readAll(path string) (events []Event, err error) {
	for e, err := range Read(path) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func create(t testing.TB) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.jsonl.gz")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return w, path
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "h.gz")
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		want := rapid.SliceOfN(rapid.Custom(drawEvent), 0, 20).Draw(t, "events")
		for _, e := range want {
			record(w.own, e)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, append([]Event{}, got...)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEveryRecorderKeepsItsOrderAndNothingIsLost(t *testing.T) {
	const recorders, each = 8, 2000
	w, path := create(t)
	var wg sync.WaitGroup
	for i := range recorders {
		r := w.Recorder()
		wg.Go(func() {
			for n := range each {
				r.Attempt(&Attempt{Op: int64(i), N: n + 1, Outcome: Returned, Body: []byte(`{"ok":true}`)})
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	last := map[int64]int{}
	for e, err := range Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		if a := e.Attempt; a.N != last[a.Op]+1 {
			t.Fatalf("recorder %d: attempt %d follows %d", a.Op, a.N, last[a.Op])
		}
		last[e.Attempt.Op]++
	}
	for i := range int64(recorders) {
		if last[i] != each {
			t.Errorf("recorder %d: %d attempts of %d", i, last[i], each)
		}
	}
}

// An unfinished history stands for a killed process: nothing tells the writer to finish.
func TestAnUnfinishedHistoryIsReadableSoonAfterTheEvent(t *testing.T) {
	w, path := create(t)
	defer w.Close()
	w.Recorder().Attempt(&Attempt{Op: 7, N: 1, Outcome: Lost, Cause: CauseTimeout})
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		events, err := readAll(path)
		if !errors.Is(err, ErrTruncated) {
			t.Fatalf("error is %v, want ErrTruncated", err)
		}
		if len(events) == 1 && events[0].Attempt.Op == 7 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the event never became readable")
		}
	}
}

func TestAHistoryCutAnywhereYieldsAPrefixAndSaysSo(t *testing.T) {
	w, path := create(t)
	for n := range 50 {
		w.own.Attempt(&Attempt{Op: int64(n * n), N: n, Outcome: Returned, Body: fmt.Appendf(nil, "%d", n*7919)})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, _ := readAll(path)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if err := os.WriteFile(path, b[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(path)
		if !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut to %d of %d bytes: error is %v, want ErrTruncated", n, len(b), err)
		}
		if diff := cmp.Diff(whole[:len(got)], got); len(got) > 0 && diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestAFlippedByteIsNoticed(t *testing.T) {
	w, path := create(t)
	w.Note(Note{Kind: "phase", Text: "one"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(path)
	for i := 10; i < len(b); i++ { // the gzip header before it carries no content
		c := append([]byte{}, b...)
		c[i] ^= 0x55
		if err := os.WriteFile(path, c, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(path); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTruncated) {
			t.Errorf("byte %d flipped: error is %v", i, err)
		}
	}
}

func TestRecordingAfterCloseIsReported(t *testing.T) {
	w, _ := create(t)
	r := w.Recorder()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r.Attempt(&Attempt{Op: 1})
	if err := w.Close(); !errors.Is(err, errClosed) {
		t.Errorf("error is %v", err)
	}
}

func TestAFullDiskIsReportedAndStopsNobody(t *testing.T) {
	w, path := create(t)
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fr, err := createFrame(path, kindHistory)
	if err != nil {
		t.Fatal(err)
	}
	fr.file.Close()
	fr.file = f
	fr.zip.Reset(f)
	w = &Writer{chunks: make(chan chunk, 1), done: make(chan error, 1)}
	w.own = w.Recorder()
	go w.compress(fr)
	for n := range 20000 {
		w.own.Attempt(&Attempt{Op: int64(n), Body: make([]byte, 100)})
	}
	if err := w.Close(); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file got its name in spite of the error")
	}
}
