package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// Schema is the version of bench.json.
const Schema = 1

// File is the name of the results in their folder.
const File = "bench.json"

// Result is a benchmark as bench.json keeps it: everything that was measured, run by run, so that every figure of the reports can be computed
// again from it.
type Result struct {
	Schema      int            `json:"schema"`
	Kind        string         `json:"kind"` // "claim"
	Tool        string         `json:"tool"` // version and revision of idemstorm
	Started     time.Time      `json:"started"`
	Took        time.Duration  `json:"took_ns"`
	Seed        uint64         `json:"seed"`
	Grid        Grid           `json:"grid"`
	Runs        int            `json:"runs"`       // as asked for
	Warm        time.Duration  `json:"warm_ns"`    // before every measurement, not counted
	Measure     time.Duration  `json:"measure_ns"` // about how long one measurement was to take
	Pool        int            `json:"pool"`       // connections of each of the server's two pools
	Environment []verdict.Fact `json:"environment"`
	LeftOut     []LeftOut      `json:"left_out,omitempty"`
	Notes       []string       `json:"notes,omitempty"`       // what a reader must know of the figures
	Interrupted bool           `json:"interrupted,omitempty"` // it was stopped: the measurements are those that had ended

	RoundTrips   []RoundTrips  `json:"round_trips"`
	Measurements []Measurement `json:"measurements"`
	Pooled       []Pooled      `json:"pooled"` // times of all runs of a cell together, for curves
}

// LeftOut is a series that was not measured, and why.
type LeftOut struct {
	Series string `json:"series"`
	Why    string `json:"why"`
}

// RoundTrips is how often a server waits for its database during one request, counted on the wire, one request at a time and apart from
// the measurements.
type RoundTrips struct {
	Series string  `json:"series"`
	Winner float64 `json:"winner"`
	Replay float64 `json:"replay,omitempty"`
}

// Measurement is one cell in one run.
type Measurement struct {
	Cell
	Run      int   `json:"run"`      // from 1
	Place    int   `json:"place"`    // in the run's order, from 1
	Keys     int64 `json:"keys"`     // that were executed and answered in the measured time
	Requests int64 `json:"requests"` // sent meanwhile, duplicates included, replays not
	Failed   int64 `json:"failed"`   // requests, replays included, that got neither an answer of their role nor a conflict

	KeysPerSecond    float64 `json:"keys_per_second"`
	ReplaysPerSecond float64 `json:"replays_per_second,omitempty"`

	Winner Times `json:"winner"`
	Loser  Times `json:"loser"`
	Replay Times `json:"replay"`

	Waited     int64      `json:"losers_replayed,omitempty"` // of the losers: waited for the winner and got its answer; the others got a conflict at once
	PerRequest PerRequest `json:"per_request"`
}

// Times sums up the times of one role: from the sending to the whole answer. A percentile is known where the run has the samples for it.
type Times struct {
	Count     int64              `json:"count"`
	Mean      time.Duration      `json:"mean_ns"`
	Max       time.Duration      `json:"max_ns"`
	Quantiles []latency.Quantile `json:"quantiles,omitempty"`
}

// TimesOf keeps of a summary what a measurement needs.
func TimesOf(s latency.Summary) Times {
	if s.Count == 0 {
		return Times{}
	}
	return Times{Count: s.Count, Mean: s.Mean, Max: s.Max, Quantiles: s.Quantiles}
}

// PerRequest is what the race cost the database and the server's pools, divided by Requests; nil what could not be read.
type PerRequest struct {
	Statements *float64 `json:"statements,omitempty"`   // pg_stat_statements: calls, BEGIN and COMMIT included
	WAL        *float64 `json:"wal_bytes,omitempty"`    // pg_current_wal_insert_lsn
	LockWait   *float64 `json:"lock_wait_ns,omitempty"` // pg_stat_activity, sampled: sessions that wait for a lock
	PoolWait   *float64 `json:"pool_wait_ns,omitempty"` // the server's metrics: for a connection of either pool
	PoolWaits  *float64 `json:"pool_waits,omitempty"`   // how many acquisitions had to wait
}

// Pooled is the times of one role in one cell, over all runs.
type Pooled struct {
	Cell
	Role    Role            `json:"role"`
	Summary latency.Summary `json:"summary"`
}

// Find gives the measurements of a cell by their run.
func (r Result) Find(c Cell) map[int]Measurement {
	found := map[int]Measurement{}
	for _, m := range r.Measurements {
		if m.Cell == c {
			found[m.Run] = m
		}
	}
	return found
}

// Save writes bench.json into dir, which exists.
func Save(dir string, r Result) error {
	return wholefile.WriteJSON(filepath.Join(dir, File), r, " ")
}

// Load reads what Save has written.
func Load(dir string) (r Result, err error) {
	path := filepath.Join(dir, File)
	data, err := os.ReadFile(path)
	if err != nil {
		return r, fmt.Errorf("read the benchmark: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read the benchmark in %s: %w", path, err)
	}
	if r.Schema != Schema {
		return r, fmt.Errorf("read the benchmark in %s: schema %d, and this program knows %d; run the benchmark again", path, r.Schema, Schema)
	}
	if len(r.Grid.Strategies) == 0 {
		return r, fmt.Errorf("read the benchmark in %s: it names no strategy", path)
	}
	return r, nil
}
