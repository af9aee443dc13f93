package fault

import (
	"context"
	"fmt"
	"regexp"
	"sync/atomic"

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
		strike := &statementStrike{match: match, share: s.shareOrAll(), action: action(s)}
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
	s.hit.Add(1)
	return s.action
}

// Ended implements pgwire.Controller.
func (s *statementStrike) Ended(*pgwire.Step, pgwire.Outcome) {}
