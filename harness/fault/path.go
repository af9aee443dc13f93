package fault

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

var anyPath = []Target{Store, Database, Both}

// onPath makes the strike of a kind that changes the link of paths.
func onPath(link func(Spec) pgwire.Link) func(Spec, World) (Strike, error) {
	return func(s Spec, w World) (Strike, error) {
		paths, err := struckPaths(s, w)
		return &pathStrike{link: link(s), paths: paths}, err
	}
}

func struckPaths(s Spec, w World) (struck []Path, err error) {
	for _, p := range w.Paths {
		if s.strikes(p) {
			struck = append(struck, p)
		}
	}
	if len(struck) == 0 {
		return nil, fmt.Errorf("nothing to strike: no %s path of replica %d", s.On, s.Replica)
	}
	return struck, nil
}

func (s Spec) strikes(p Path) bool {
	return (s.On == Both || s.On == p.Target) && (s.Replica == 0 || s.Replica == p.Replica)
}

// pathStrike puts a link in force on paths, and a clean one afterwards.
type pathStrike struct {
	link          pgwire.Link
	paths         []Path
	before, after int64
}

// Inject implements Strike. It returns when the link is in force on every path.
func (s *pathStrike) Inject(context.Context) error {
	if err := s.link.Validate(); err != nil {
		return err
	}
	s.before = s.total()
	for _, p := range s.paths {
		p.Proxy.SetLink(s.link)
	}
	return nil
}

// Heal implements Strike.
func (s *pathStrike) Heal(context.Context) error {
	s.after = s.total()
	for _, p := range s.paths {
		p.Proxy.SetLink(pgwire.Link{})
	}
	return nil
}

// Felt implements Strike: connections refused, reset or kept waiting, and chunks held or slowed, until healing began.
func (s *pathStrike) Felt() int64 { return s.after - s.before }

func (s *pathStrike) total() (n int64) {
	for _, p := range s.paths {
		stats := p.Proxy.Stats()
		n += stats.Refused + stats.Reset + stats.Shaped
		if s.link.State == pgwire.Hang { // what comes new is left without any answer
			n += stats.Accepted
		}
	}
	return n
}
