package fault

import "context"

// service is the strike that takes one thing away as a whole and gives it back.
type service struct {
	stop, start func(context.Context) error
	struck      int64
}

// Inject implements Strike.
func (s *service) Inject(ctx context.Context) error {
	if err := s.stop(ctx); err != nil {
		return err
	}
	s.struck = 1
	return nil
}

// Heal implements Strike. What was not taken away is not given back.
func (s *service) Heal(ctx context.Context) error {
	if s.struck == 0 {
		return nil
	}
	return s.start(ctx)
}

// Felt implements Strike: whether it was taken away.
func (s *service) Felt() int64 { return s.struck }
