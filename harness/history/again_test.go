package history

import (
	"bytes"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Scan uses its memory again, so what it yields is compared at once.
func TestScanningSaysWhatReadingSays(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r := w.Recorder()
	for i, body := range []string{`{"a":1}`, "", "\xff\xfe", `{"long":"` + string(bytes.Repeat([]byte("x"), 5000)) + `"}`, "x"} {
		r.Attempt(&Attempt{Op: int64(i + 1), N: 1, SentNS: int64(i), Outcome: Returned, Status: 201, Marked: i%2 == 0, Body: []byte(body)})
		r.Attempt(&Attempt{Op: int64(i + 1), N: 2, Outcome: Lost, Cause: CauseTimeout, RetryAfter: "7"})
	}
	w.Fault(Fault{ID: 1, Name: "x", Phase: FaultBegan})
	w.Note(Note{AtNS: 3, Kind: "phase"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sameSequence(t, Read(path), Scan(path))

	plan := filepath.Join(dir, "plan")
	ops := []Operation{
		{ID: 1, Phase: "p", Route: "order", Keys: []string{"k", "k"}, Key: "k", Request: "r", Body: []byte("one")},
		{ID: 2, Phase: "p", Keys: []string{"K"}, Key: "k"},
		{ID: 3, Keys: []string{"", "\x01"}, Body: []byte("a longer body")},
		{ID: 4},
	}
	if err := WriteOperations(plan, slices.Values(ops)); err != nil {
		t.Fatal(err)
	}
	sameSequence(t, ReadOperations(plan), ScanOperations(plan))
}

func sameSequence[T any](t *testing.T, want, got iter.Seq2[T, error]) {
	t.Helper()
	next, stop := iter.Pull2(want)
	defer stop()
	n := 0
	for g, err := range got {
		w, werr, ok := next()
		if !ok || err != nil || werr != nil {
			t.Fatalf("item %d: %v, %v, there: %t", n, err, werr, ok)
		}
		if diff := cmp.Diff(w, g); diff != "" {
			t.Fatalf("item %d: %s", n, diff)
		}
		n++
	}
	if _, _, more := next(); more || n == 0 {
		t.Fatalf("%d items, and there are more: %t", n, more)
	}
}

// A reader that stops early leaves no goroutine behind: goleak watches the package.
func TestReadingMayStopAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan")
	many := func(yield func(Operation) bool) {
		for i := int64(1); i <= 20_000 && yield(Operation{ID: i, Request: "r"}); i++ {
		}
	}
	if err := WriteOperations(path, many); err != nil {
		t.Fatal(err)
	}
	for _, stopAt := range []int64{1, 2, 9_999, 20_000} {
		last := int64(0)
		for o, err := range ScanOperations(path) {
			if err != nil {
				t.Fatal(err)
			}
			if last = o.ID; last == stopAt {
				break
			}
		}
		if last != stopAt {
			t.Errorf("stopped at %d, not at %d", last, stopAt)
		}
	}
}
