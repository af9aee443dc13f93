package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Gate is a latency limit of a scenario file.
type Gate struct {
	Series     string        `yaml:"series"`     // group of the latency table, such as "order fresh"
	Kind       latency.Kind  `yaml:"kind"`       // response (the default) or service
	Percentile float64       `yaml:"percentile"` // 50, 90, 99 or 99.9
	Limit      time.Duration `yaml:"limit"`
}

// Validate refuses a gate that cannot be judged. The error begins with the field.
func (g Gate) Validate() error {
	switch {
	case g.Series == "":
		return errors.New(`series: it is missing; it names a line of the latency table, such as "order fresh"`)
	case !slices.Contains([]latency.Kind{"", latency.Response, latency.Service}, g.Kind):
		return fmt.Errorf("kind: %q is neither response nor service", g.Kind)
	case !slices.Contains([]float64{50, 90, 99, 99.9}, g.Percentile):
		return fmt.Errorf("percentile: %g is none of 50, 90, 99 and 99.9", g.Percentile)
	case g.Limit <= 0:
		return fmt.Errorf("limit: %v is not positive", g.Limit)
	}
	return nil
}

// JudgeGates compares the measured percentiles with their limits. A percentile without enough samples is inconclusive; one whose
// interval holds the limit is judged by its value, and says so.
func JudgeGates(gates []Gate, measured []latency.Summary) (list []verdict.Gate) {
	for _, g := range gates {
		orElse(&g.Kind, latency.Response)
		list = append(list, g.judge(measured))
	}
	return list
}

func (g Gate) judge(measured []latency.Summary) verdict.Gate {
	v := verdict.Gate{
		Name:   fmt.Sprintf("%s %s p%s", g.Series, g.Kind, strings.TrimSuffix(strconv.FormatFloat(g.Percentile, 'f', 1, 64), ".0")),
		Status: verdict.Inconclusive,
		Limit:  g.Limit,
		Why:    "nothing was measured under this name",
	}
	for _, m := range measured {
		if m.Group != g.Series || m.Kind != g.Kind {
			continue
		}
		v.Samples = m.Count
		v.Why = fmt.Sprintf("%d samples are too few for this percentile", m.Count)
		for _, q := range m.Quantiles {
			if diff := q.Q*100 - g.Percentile; diff < 1e-6 && diff > -1e-6 && q.Known {
				decide(&v, q)
			}
		}
	}
	return v
}

func decide(v *verdict.Gate, q latency.Quantile) {
	v.Value, v.Low, v.High, v.Why = q.Value, q.Low, q.High, ""
	v.Status = verdict.Held
	if q.Value > v.Limit {
		v.Status = verdict.Violated
	}
	if q.Low <= v.Limit && v.Limit < q.High {
		v.Why = "the limit lies inside the 95 % interval"
	}
}
