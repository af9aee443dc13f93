package latency

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var series = Series{Group: "order fresh", Kind: Response}

func setOf(values ...time.Duration) *Set {
	s := &Set{}
	r := s.Recorder()
	for _, v := range values {
		r.Record(series, v)
	}
	r.Flush()
	return s
}

func TestAPercentileIsKnownFromTheLeastNumberOfSamplesOn(t *testing.T) {
	for q, need := range map[float64]int64{0.5: 6, 0.9: 36, 0.99: 368, 0.999: 3688} {
		if _, _, ok := interval(need-1, q); ok {
			t.Errorf("%v is known with %d samples", q, need-1)
		}
		if _, _, ok := interval(need, q); !ok {
			t.Errorf("%v is not known with %d samples", q, need)
		}
	}
	if q := (&Set{}).Quantile(series, 0.5); q.Known || q.Value != 0 {
		t.Errorf("without samples: %+v", q)
	}
}

// The ranks are those of tables of binomial intervals, such as 40 and 61 for the median of 100.
func TestIntervalsAreThoseOfTheBinomialDistribution(t *testing.T) {
	for _, c := range []struct {
		n         int64
		q         float64
		low, high int64
	}{{100, 0.5, 40, 61}, {6, 0.5, 1, 6}, {10, 0.5, 2, 9}, {368, 0.99, 360, 368}} {
		low, high, _ := interval(c.n, c.q)
		if low != c.low || high != c.high {
			t.Errorf("n %d, q %v: [%d, %d], want [%d, %d]", c.n, c.q, low, high, c.low, c.high)
		}
	}
}

func TestIntervalsCoverAtLeast95PercentAndNoNarrowerOneDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 5000).Draw(t, "n")
		q := rapid.SampledFrom([]float64{0.5, 0.9, 0.99, 0.999}).Draw(t, "q")
		low, high, ok := interval(n, q)
		if !ok {
			return
		}
		below := func(k int64) (sum float64) { // P(fewer than k samples lie below the true quantile)
			for i := range k {
				sum += binomial(n, i, q)
			}
			return sum
		}
		if below(low) > tail+1e-9 || 1-below(high) > tail+1e-9 {
			t.Fatalf("[%d, %d] leaves out %v and %v", low, high, below(low), 1-below(high))
		}
		if below(low+1) <= tail-1e-9 || high > 1 && 1-below(high-1) <= tail-1e-9 {
			t.Fatalf("[%d, %d] is wider than need be", low, high)
		}
	})
}

func TestAnIntervalOfManySamplesIsQuickAndSane(t *testing.T) {
	low, high, ok := interval(100_000_000, 0.5)
	if !ok || math.Abs(float64(low)-49_990_200) > 10 || math.Abs(float64(high)-50_009_801) > 10 {
		t.Errorf("[%d, %d] %v", low, high, ok)
	}
}

func TestQuantilesAreNearestRankWithinThePrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.SliceOfN(rapid.Int64Range(1, 3_000_000), 6, 400).Draw(t, "µs")
		values := make([]time.Duration, len(ms))
		for i, v := range ms {
			values[i] = time.Duration(v) * time.Microsecond
		}
		s := setOf(values...).Summary(series)
		slices.Sort(values)
		if s.Min != values[0] || s.Max != values[len(values)-1] || s.Count != int64(len(values)) {
			t.Fatalf("%+v", s)
		}
		for _, q := range s.Quantiles {
			want := values[nearestRank(s.Count, q.Q)-1]
			if q.Known && math.Abs(float64(q.Value-want)) > float64(want)/1000+1000 {
				t.Fatalf("q %v is %v, want %v", q.Q, q.Value, want)
			}
			if q.Known && (q.Low > q.Value || q.Value > q.High || q.High > s.Max || q.Low < s.Min) {
				t.Fatalf("%+v", q)
			}
		}
		if !slices.IsSortedFunc(s.Curve, func(a, b Point) int { return int(a.Value - b.Value) }) {
			t.Fatalf("%+v", s.Curve)
		}
	})
}

func TestWhatIsOutOfRangeIsCountedAtTheEdge(t *testing.T) {
	s := setOf(-time.Second, 3*time.Hour, time.Millisecond).Summary(series)
	if s.Count != 3 || s.Clipped != 2 || s.Min != -time.Second || s.Max != 3*time.Hour {
		t.Errorf("%+v", s)
	}
}

func TestWorkersRecordSideBySideAndNothingIsLost(t *testing.T) {
	var s Set
	var wg sync.WaitGroup
	for range 8 {
		r := s.Recorder()
		wg.Go(func() {
			for i := range 1000 {
				r.Record(series, time.Duration(i)*time.Microsecond)
				r.Record(Series{All, Service}, time.Millisecond)
			}
			r.Flush()
		})
	}
	wg.Wait()
	sums := s.Summaries()
	if len(sums) != 2 || sums[0].Group != All || sums[0].Count != 8000 || sums[1].Count != 8000 {
		t.Errorf("%+v", sums)
	}
}

func TestTheLogKeepsEverything(t *testing.T) {
	s := setOf(1234567*time.Nanosecond, 2*time.Hour, 5*time.Microsecond)
	for i := range 5000 {
		s.at(Series{All, Lateness}).record(time.Duration(i) * 977 * time.Nanosecond)
	}
	path := filepath.Join(t.TempDir(), "latency.hlog")
	if err := WriteLog(path, s); err != nil {
		t.Fatal(err)
	}
	back, err := ReadLog(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Summaries(), back.Summaries(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestOtherHDRToolsReadTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "latency.hlog")
	if err := WriteLog(path, setOf(time.Millisecond, 2*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h, err := hdrhistogram.NewHistogramLogReader(file).NextIntervalHistogram()
	if err != nil {
		t.Fatal(err)
	}
	if h.Tag() != "order_fresh:response" || h.TotalCount() != 2 {
		t.Errorf("tag %q, count %d", h.Tag(), h.TotalCount())
	}
}

func FuzzReadLog(f *testing.F) {
	path := filepath.Join(f.TempDir(), "l")
	if err := WriteLog(path, setOf(time.Millisecond)); err != nil {
		f.Fatal(err)
	}
	good, _ := os.ReadFile(path)
	f.Add(string(good))
	f.Add(strings.Replace(string(good), "HISTF", "HISTG", 1))
	f.Fuzz(func(t *testing.T, s string) {
		path := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		if set, err := ReadLog(path); err == nil {
			set.Summaries()
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	r := (&Set{}).Recorder()
	for i := range b.N {
		r.Record(series, time.Duration(i%100)*time.Millisecond)
	}
}
