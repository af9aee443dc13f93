package bench

import "time"

// Role is who among the requests of a key an answer's time belongs to.
type Role string

// The roles. Losers are the duplicates that were sent at the same instant as their winner; replays were asked for when all had their answer.
const (
	Winner Role = "winner"
	Loser  Role = "loser"
	Replay Role = "replay"
)

// Roles are all of them, in the order of tables.
var Roles = []Role{Winner, Loser, Replay}

// Unit is what a metric counts in.
type Unit string

// The units.
const (
	PerSecond   Unit = "1/s"
	Nanoseconds Unit = "ns"
	Bytes       Unit = "B"
	Count       Unit = "1"
)

// Metric is one figure of a measurement.
type Metric struct {
	Name   string // as files and benchmark units spell it
	Unit   Unit
	Higher bool // more is better
	Of     func(Measurement) (value float64, known bool)

	role Role    // of a percentile
	q    float64 // 0 for what is no percentile
}

// The metrics that tables and gates lead with.
var (
	Throughput = Metric{Name: "keys/s", Unit: PerSecond, Higher: true, Of: func(m Measurement) (float64, bool) {
		return m.KeysPerSecond, m.KeysPerSecond > 0
	}}
	WinnerP99 = timeMetric(Winner, 0.99, "p99")
)

// Metrics are all that is compared and written out, in the order of files.
var Metrics = append([]Metric{
	Throughput,
	{Name: "replays/s", Unit: PerSecond, Higher: true, Of: func(m Measurement) (float64, bool) {
		return m.ReplaysPerSecond, m.ReplaysPerSecond > 0
	}},
}, append(timeMetrics(), requestMetrics()...)...)

func timeMetrics() (out []Metric) {
	for _, role := range Roles {
		for _, p := range percentiles {
			out = append(out, timeMetric(role, p.q, p.name))
		}
		out = append(out, Metric{Name: string(role) + "-max-ns", Unit: Nanoseconds, Of: func(m Measurement) (float64, bool) {
			t := m.Times(role)
			return float64(t.Max), t.Count > 0
		}})
	}
	return out
}

// percentiles are those of a measurement.
var percentiles = []struct {
	q    float64
	name string
}{{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99.9"}}

// FindMetric finds a metric by its name.
func FindMetric(name string) (Metric, bool) {
	for _, m := range Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

func timeMetric(role Role, q float64, name string) Metric {
	of := func(m Measurement) (float64, bool) {
		v, ok := m.Times(role).Quantile(q)
		return float64(v), ok && v > 0
	}
	return Metric{Name: string(role) + "-" + name + "-ns", Unit: Nanoseconds, Of: of, role: role, q: q}
}

func requestMetrics() []Metric {
	of := func(figure func(PerRequest) *float64) func(Measurement) (float64, bool) {
		return func(m Measurement) (float64, bool) {
			if v := figure(m.PerRequest); v != nil {
				return *v, true
			}
			return 0, false
		}
	}
	return []Metric{
		{Name: "statements/req", Unit: Count, Of: of(func(p PerRequest) *float64 { return p.Statements })},
		{Name: "wal-B/req", Unit: Bytes, Of: of(func(p PerRequest) *float64 { return p.WAL })},
		{Name: "lock-wait-ns/req", Unit: Nanoseconds, Of: of(func(p PerRequest) *float64 { return p.LockWait })},
		{Name: "pool-wait-ns/req", Unit: Nanoseconds, Of: of(func(p PerRequest) *float64 { return p.PoolWait })},
	}
}

// Times are a role's times.
func (m Measurement) Times(role Role) Times {
	switch role {
	case Winner:
		return m.Winner
	case Loser:
		return m.Loser
	}
	return m.Replay
}

// Quantile finds a percentile; false where the samples did not suffice for it.
func (t Times) Quantile(q float64) (time.Duration, bool) {
	for _, k := range t.Quantiles {
		if k.Q == q && k.Known {
			return k.Value, true
		}
	}
	return 0, false
}
