package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Gate is a latency limit as a scenario file writes it.
type Gate struct {
	Group    string        `yaml:"group"`    // series, such as "order fresh" or "all"
	Kind     latency.Kind  `yaml:"kind"`     // response or service; default response
	Quantile float64       `yaml:"quantile"` // 0.5, 0.9, 0.99 or 0.999
	Limit    time.Duration `yaml:"limit"`
}

// Validate refuses a gate that cannot be judged; the error begins with the field's name.
func (g Gate) Validate() error {
	switch {
	case g.Group == "":
		return errors.New("group: it is missing; name a latency series such as \"order fresh\"")
	case g.Kind != "" && g.Kind != latency.Response && g.Kind != latency.Service:
		return fmt.Errorf("kind: %q is neither response nor service", g.Kind)
	case g.Quantile != 0.5 && g.Quantile != 0.9 && g.Quantile != 0.99 && g.Quantile != 0.999:
		return fmt.Errorf("quantile: %g is none of 0.5, 0.9, 0.99, 0.999", g.Quantile)
	case g.Limit <= 0:
		return fmt.Errorf("limit: %v is no latency", g.Limit)
	}
	return nil
}

// JudgeGates holds summaries against limits. A gate fails when the whole 95 % interval lies above its limit, holds when the whole interval
// lies within it, and is inconclusive in between or without the samples.
func JudgeGates(gates []Gate, summaries []latency.Summary) []verdict.Gate {
	var out []verdict.Gate
	for _, g := range gates {
		out = append(out, g.judge(summaries))
	}
	return out
}

func (g Gate) judge(summaries []latency.Summary) verdict.Gate {
	if g.Kind == "" {
		g.Kind = latency.Response
	}
	v := verdict.Gate{Name: fmt.Sprintf("%s %s p%g", g.Group, g.Kind, g.Quantile*100), Status: verdict.Inconclusive, Limit: g.Limit}
	q, samples := g.find(summaries)
	v.Samples, v.Value, v.Low, v.High = samples, q.Value, q.Low, q.High
	switch {
	case !q.Known:
		v.Why = fmt.Sprintf("%d samples are too few for this percentile", samples)
	case q.High <= g.Limit:
		v.Status = verdict.Held
	case q.Low > g.Limit:
		v.Status = verdict.Violated
	default:
		v.Why = "the limit lies inside the interval: more samples would decide"
	}
	return v
}

func (g Gate) find(summaries []latency.Summary) (q latency.Quantile, samples int64) {
	for _, s := range summaries {
		if s.Group != g.Group || s.Kind != g.Kind {
			continue
		}
		for _, q := range s.Quantiles {
			if q.Q == g.Quantile {
				return q, s.Count
			}
		}
	}
	return latency.Quantile{}, 0
}
