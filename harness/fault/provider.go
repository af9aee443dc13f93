package fault

import (
	"context"
	"errors"
	"time"
)

var onlyProvider = []Target{PaymentProvider}

var errNoProvider = errors.New("provider: there is none in this run")

// manners are how the provider treats calls while a fault lasts.
type manners struct {
	delay       time.Duration
	failShare   float64
	afterActing bool
}

// onProvider makes the strike of a kind that changes how the provider treats calls.
func onProvider(of func(Spec) manners) func(Spec, World) (Strike, error) {
	return func(s Spec, w World) (Strike, error) {
		if w.Provider == nil {
			return nil, errNoProvider
		}
		return &providerStrike{provider: w.Provider, manners: of(s)}, nil
	}
}

type providerStrike struct {
	provider      Provider
	manners       manners
	before, after int64
}

// Inject implements Strike.
func (s *providerStrike) Inject(context.Context) error {
	s.before = s.provider.Calls()
	return s.provider.Behave(s.manners.delay, s.manners.failShare, s.manners.afterActing)
}

// Heal implements Strike. Calls under way end as they were going to.
func (s *providerStrike) Heal(context.Context) error {
	s.after = s.provider.Calls()
	return s.provider.Behave(0, 0, false)
}

// Felt implements Strike: calls that came while it lasted.
func (s *providerStrike) Felt() int64 { return s.after - s.before }

// shareOrAll is the spec's share, which is all when it is not given.
func (s Spec) shareOrAll() float64 {
	if s.Share == 0 {
		return 1
	}
	return s.Share
}
