package fault

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// onStatements makes the strike of a kind that acts on statements of a path. A spec without a pattern takes byDefault.
func onStatements(byDefault string, action func(Spec) pgwire.Action) func(Spec, World) (Strike, error) {
	return func(s Spec, w World) (Strike, error) {
		pattern := s.Statement
		if pattern == "" {
			pattern = byDefault
		}
		match, err := compile(pattern)
		if err != nil {
			return nil, err
		}
		strike := &statementStrike{match: match, share: s.shareOrAll(), action: action(s), jitter: s.Jitter}
		strike.paths, err = struckPaths(s, w)
		return strike, err
	}
}

func compile(pattern string) (*regexp.Regexp, error) {
	match, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, fmt.Errorf("statement: %w", err)
	}
	return match, nil
}

// checkStatement is the Check of kinds that take a pattern.
func checkStatement(s Spec) error {
	_, err := compile(s.Statement)
	return err
}

// statementStrike is a controller of its paths' proxies while it lasts. Of the steps that match it takes every so-manieth, so that
// the share is exact and needs no chance.
type statementStrike struct {
	match     *regexp.Regexp
	share     float64
	action    pgwire.Action
	jitter    time.Duration // up to this on top of the action's delay
	paths     []Path
	seen, hit atomic.Int64
}

// Inject implements Strike.
func (s *statementStrike) Inject(context.Context) error { return s.control(s) }

// Heal implements Strike. Steps that are being delayed end as they were going to.
func (s *statementStrike) Heal(context.Context) error { return s.control(nil) }

func (s *statementStrike) control(c pgwire.Controller) error {
	for _, p := range s.paths {
		if err := p.Proxy.SetController(c); err != nil {
			return fmt.Errorf("control the %s path of replica %d: %w", p.Target, p.Replica, err)
		}
	}
	return nil
}

// Felt implements Strike: statements struck.
func (s *statementStrike) Felt() int64 { return s.hit.Load() }

// Decide implements pgwire.Controller.
func (s *statementStrike) Decide(_ context.Context, step *pgwire.Step) pgwire.Action {
	if !s.match.MatchString(step.SQL()) {
		return pgwire.Action{}
	}
	n := float64(s.seen.Add(1))
	if int64(n*s.share) == int64((n-1)*s.share) {
		return pgwire.Action{}
	}
	action := s.action
	action.Delay += s.spread(s.hit.Add(1))
	return action
}

// goldenRatio spreads a sequence evenly, however long it gets.
const goldenRatio = 0.6180339887498949

func (s *statementStrike) spread(n int64) time.Duration {
	_, part := math.Modf(float64(n) * goldenRatio)
	return time.Duration(part * float64(s.jitter))
}

// Ended implements pgwire.Controller.
func (s *statementStrike) Ended(*pgwire.Step, pgwire.Outcome) {}
