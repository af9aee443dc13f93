package claim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/bench"
)

// binary is the program that serves, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "bench-claim-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "idemstorm")
	build := exec.Command("go", "build", "-o", binary, "github.com/idemstorm/idemstorm/cmd/idemstorm")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program that serves:", err)
		return 1
	}
	return m.Run()
}

func tiny() Options {
	return Options{
		Exe: binary, Runs: 2, Warm: 50 * time.Millisecond, Measure: 100 * time.Millisecond, Pool: 8, Seed: 1,
		Grid: bench.Grid{
			Strategies: []string{"insert-first", "in-transaction"}, Clients: []int{4}, Duplicates: []int{2}, Handler: []time.Duration{0}, SyncCommit: []string{"off"},
			Floor: true,
		},
	}
}

func TestEveryCellIsMeasuredInEveryRun(t *testing.T) {
	r, err := Run(context.Background(), tiny())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Grid.Cells() {
		found := r.Find(c)
		if len(found) != 2 {
			t.Errorf("%v was measured %d times", c, len(found))
		}
		for _, m := range found {
			checkMeasurement(t, m)
		}
	}
	if len(r.RoundTrips) != 3 {
		t.Errorf("round trips: %+v", r.RoundTrips)
	}
	for _, trips := range r.RoundTrips {
		if trips.Winner < 2 || (trips.Series != bench.Unprotected && trips.Replay < 1) {
			t.Errorf("round trips of %s: %+v", trips.Series, trips)
		}
	}
}

func checkMeasurement(t *testing.T, m bench.Measurement) {
	t.Helper()
	protected := m.Series != bench.Floor && m.Series != bench.Unprotected
	switch {
	case m.Keys == 0 || m.KeysPerSecond <= 0 || m.Winner.Count != m.Keys || m.Winner.Max <= 0:
		t.Errorf("%v: no winners: %+v", m.Cell, m)
	case m.Failed != 0:
		t.Errorf("%v: %d requests failed", m.Cell, m.Failed)
	case protected && (m.Requests != 2*m.Keys || m.Loser.Count != m.Keys || m.Replay.Count != m.Keys || m.ReplaysPerSecond <= 0):
		t.Errorf("%v: of %d requests %d won, %d lost, and %d were replayed", m.Cell, m.Requests, m.Keys, m.Loser.Count, m.Replay.Count)
	case m.Series == bench.Floor:
	case m.PerRequest.Statements == nil || *m.PerRequest.Statements < 1 || m.PerRequest.WAL == nil || *m.PerRequest.WAL < 100 || m.PerRequest.PoolWait == nil:
		t.Errorf("%v: costs are missing: %+v", m.Cell, m.PerRequest)
	}
}

// stopper ends the benchmark after so many measurements.
type stopper struct {
	after int64
	stop  context.CancelFunc
}

func (s *stopper) Phase(string, int64) {}

func (s *stopper) Add(n int64) {
	if s.after -= n; s.after == 0 {
		s.stop()
	}
}

func TestWhatWasMeasuredBeforeAnInterruptIsKept(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	o := tiny()
	o.Progress = &stopper{3, stop}
	r, err := Run(ctx, o)
	if err != nil || !r.Interrupted || len(r.Measurements) != 3 {
		t.Errorf("interrupted %v, %d measurements, %v", r.Interrupted, len(r.Measurements), err)
	}
}

const secondOrder = `
	INSERT INTO paper_orders (execution_id, user_id, endpoint, idem_key, symbol, side, order_type, quantity, price, amount, status)
	SELECT gen_random_uuid(), 1, 'POST /api/trading/orders', 'twice', 'AAPL', 'buy', 'market', 1, 1, -1, 'filled' FROM generate_series(1, $1::int)`

func TestAKeyThatWasExecutedTwiceEndsTheBenchmark(t *testing.T) {
	ctx := context.Background()
	s, err := openStage(ctx, tiny(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close(ctx)
	db := s.databases["off"]
	l := &load{cell: bench.Cell{Series: "insert-first"}, db: db}
	place := func(n int) {
		t.Helper()
		if _, err := db.admin.Exec(ctx, secondOrder, pgx.QueryExecModeExec, n); err != nil {
			t.Fatal(err)
		}
	}
	place(1)
	if err := l.judge(ctx, 1); err != nil {
		t.Errorf("one order: %v", err)
	}
	if err := l.judge(ctx, 2); !errors.Is(err, ErrViolated) {
		t.Errorf("two acknowledged, one there: %v", err)
	}
	place(1)
	if err := l.judge(ctx, 1); !errors.Is(err, ErrViolated) || !strings.Contains(err.Error(), "twice") {
		t.Errorf("executed twice: %v", err)
	}
	if l.cell.Series = bench.Unprotected; l.judge(ctx, 1) != nil {
		t.Error("what nothing protects is judged")
	}
	if err := db.reset(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.judge(ctx, 0); err != nil {
		t.Errorf("after a reset: %v", err)
	}
}

func TestOptionsThatCannotBeMeantNameTheirFlag(t *testing.T) {
	for flag, spoil := range map[string]func(*Options){
		"--runs: ":     func(o *Options) { o.Runs = 0 },
		"--duration: ": func(o *Options) { o.Measure = -1 },
		"--warm-up: ":  func(o *Options) { o.Warm = time.Hour },
		"--pool: ":     func(o *Options) { o.Pool = 1000 },
		"--clients: ":  func(o *Options) { o.Grid.Clients = []int{-1} },
	} {
		o := tiny()
		spoil(&o)
		if _, err := Run(context.Background(), o); err == nil || !strings.HasPrefix(err.Error(), flag) {
			t.Errorf("%v, want %s", err, flag)
		}
	}
}

func TestPgbenchSleepsOnceBetweenClaimAndTransaction(t *testing.T) {
	if floorScript(0) != orderSQL {
		t.Error("without a handler's time the script is another one")
	}
	got := floorScript(100 * time.Millisecond)
	claimed, pause, begun := strings.Index(got, "INSERT INTO idempotency_keys"), strings.Index(got, "\\sleep 100000 us\nBEGIN;"), strings.Index(got, "UPDATE accounts")
	if claimed < 0 || pause < claimed || begun < pause || strings.Count(got, "\\sleep") != 1 {
		t.Errorf("%s", got)
	}
}

func TestPgbenchLogsOfAllThreadsAreRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"times.17": "0 1 1500 0 1700000000 250000\n1 1 99 0 1700000001 0\n", "times.17.1": "2 1 7 0 1700000002 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := transactions(dir)
	if err != nil || len(all) != 3 || all[0].took != 1500*time.Microsecond || all[0].ended != 1_700_000_000_250_000_000 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "times.18"), []byte("0 1 failed 0 1 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := transactions(dir); err == nil || !strings.Contains(err.Error(), "failed") {
		t.Errorf("a failed transaction: %v", err)
	}
}
