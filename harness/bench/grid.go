package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
)

// The series that are no strategies. Each is measured once for every setting but the duplicates: both place one request a key.
const (
	Floor       = "pgbench"     // the same statements by pgbench, without a server
	Unprotected = "unprotected" // the same server with its idempotency switched off
)

// againSuffix names the second series of the reference.
const againSuffix = "-again"

// Setting is the circumstances of a measurement.
type Setting struct {
	Clients    int           `json:"clients"`    // callers at work, each with one key at a time
	Duplicates int           `json:"duplicates"` // requests of a key, sent at one instant, each on a connection of its own
	Handler    time.Duration `json:"handler_ns"` // that the server's handler takes before its transaction
	SyncCommit string        `json:"sync_commit"`
}

// String is how a setting is named everywhere: in files, tables and benchmark names.
func (s Setting) String() string {
	return fmt.Sprintf("clients=%d/duplicates=%d/handler=%v/sync=%s", s.Clients, s.Duplicates, s.Handler, s.SyncCommit)
}

// single is the setting of what has one request a key.
func (s Setting) single() Setting {
	s.Duplicates = 1
	return s
}

// Cell is one thing that is measured: a series in a setting.
type Cell struct {
	Series string `json:"series"` // a strategy, the reference again, Unprotected or Floor
	Setting
}

// String names a cell: "insert-first/clients=8/duplicates=2/handler=0s/sync=on".
func (c Cell) String() string { return c.Series + "/" + c.Setting.String() }

// Grid is what is crossed with what. The first strategy is the reference.
type Grid struct {
	Strategies []string        `json:"strategies"`
	Clients    []int           `json:"clients"`
	Duplicates []int           `json:"duplicates"`
	Handler    []time.Duration `json:"handler_ns"`
	SyncCommit []string        `json:"sync_commit"` // on, off
	Floor      bool            `json:"pgbench"`     // measure it too
}

// Quick is the grid for a few minutes: every strategy where duplicates race, with few callers and with many.
func Quick() Grid {
	return Grid{
		Strategies: contract.StrategyNames(), Clients: []int{8, 32}, Duplicates: []int{2}, Handler: []time.Duration{0}, SyncCommit: []string{"on"},
		Floor: true,
	}
}

// Full is the whole grid, for a night.
func Full() Grid {
	return Grid{
		Strategies: contract.StrategyNames(), Clients: []int{1, 8, 32, 128}, Duplicates: []int{1, 2, 8},
		Handler: []time.Duration{0, 100 * time.Millisecond}, SyncCommit: []string{"on", "off"}, Floor: true,
	}
}

// Limits that keep a mistyped grid from taking the machine down.
const (
	maxClients    = 512
	maxDuplicates = 64
	maxInFlight   = 2048
	maxHandler    = 5 * time.Second // well below the server's own deadline
)

// Validate refuses a grid that cannot be measured. The error names the flag.
func (g Grid) Validate() error {
	err := errors.Join(
		each("strategies", g.Strategies, func(s string) bool { _, ok := contract.FindStrategy(s); return ok && s != "" },
			"is none of "+strings.Join(contract.StrategyNames(), ", ")),
		each("clients", g.Clients, func(n int) bool { return n >= 1 && n <= maxClients }, fmt.Sprintf("is not between 1 and %d", maxClients)),
		each("duplicates", g.Duplicates, func(n int) bool { return n >= 1 && n <= maxDuplicates }, fmt.Sprintf("is not between 1 and %d", maxDuplicates)),
		each("handler", g.Handler, func(d time.Duration) bool { return d >= 0 && d <= maxHandler }, fmt.Sprintf("is not between 0 and %v", maxHandler)),
		each("sync-commit", g.SyncCommit, func(s string) bool { return s == "on" || s == "off" }, "is neither on nor off"),
	)
	if err != nil {
		return err
	}
	if n := slices.Max(g.Clients) * slices.Max(g.Duplicates); n > maxInFlight {
		return fmt.Errorf("--clients and --duplicates: %d requests at once are more than %d", n, maxInFlight)
	}
	return nil
}

// each checks the values of one flag.
func each[T comparable](flag string, values []T, ok func(T) bool, what string) error {
	if len(values) == 0 {
		return fmt.Errorf("--%s: name at least one", flag)
	}
	for i, v := range values {
		switch {
		case !ok(v):
			return fmt.Errorf("--%s: %v %s", flag, v, what)
		case slices.Contains(values[:i], v):
			return fmt.Errorf("--%s: %v is named twice", flag, v)
		}
	}
	return nil
}

// Reference is the strategy that the others are compared with.
func (g Grid) Reference() string { return g.Strategies[0] }

// Again is the name under which the reference is measured a second time.
func (g Grid) Again() string { return g.Reference() + againSuffix }

// Strategy is what the server of a series is started with; "" where no strategy is at work.
func (g Grid) Strategy(series string) string {
	switch series {
	case Floor, Unprotected:
		return ""
	case g.Again():
		return g.Reference()
	}
	return series
}

// Series are all of them, in the order of tables: the strategies, the reference again, and what is measured without a strategy.
func (g Grid) Series() []string {
	out := append(slices.Clone(g.Strategies), g.Again(), Unprotected)
	if g.Floor {
		out = append(out, Floor)
	}
	return out
}

// Cells are all cells of a run, by setting and in the order of Series.
func (g Grid) Cells() []Cell {
	var cells []Cell
	for _, setting := range g.Settings() {
		for _, series := range g.Series() {
			c := Cell{series, setting}
			if g.single(series) {
				c.Setting = setting.single()
			}
			if !slices.Contains(cells, c) {
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// single says that a series has one request a key, whatever the setting.
func (g Grid) single(series string) bool { return series == Floor || series == Unprotected }

// Settings are all settings, in the order in which the dimensions are named.
func (g Grid) Settings() (out []Setting) {
	for _, sync := range g.SyncCommit {
		for _, handler := range g.Handler {
			for _, clients := range g.Clients {
				for _, duplicates := range g.Duplicates {
					out = append(out, Setting{clients, duplicates, handler, sync})
				}
			}
		}
	}
	return out
}
