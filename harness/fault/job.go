package fault

import (
	"context"
	"errors"
	"time"
)

// jobStrike does something once, or again and again while the fault lasts.
type jobStrike struct {
	do    func(ctx context.Context) (felt int64, err error)
	undo  func(ctx context.Context) (undone int64, err error) // when healed; nil for what is over by itself
	every time.Duration                                       // 0 does it once

	felt int64 // of the first time, or read after done
	err  error
	stop context.CancelFunc
	done chan struct{}
}

// Inject implements Strike. It returns when the first time is over.
func (j *jobStrike) Inject(ctx context.Context) error {
	n, err := j.do(ctx)
	j.felt = n
	if err != nil || j.every == 0 {
		return err
	}
	stopped, stop := context.WithCancel(ctx)
	j.stop, j.done = stop, make(chan struct{})
	go func() {
		defer close(j.done)
		j.repeat(ctx, stopped)
	}()
	return nil
}

// repeat lets the job that is running when it is stopped come to its end; only the end of the run breaks it off.
func (j *jobStrike) repeat(ctx, stopped context.Context) {
	tick := time.NewTicker(j.every)
	defer tick.Stop()
	for {
		select {
		case <-stopped.Done():
			return
		case <-tick.C:
		}
		n, err := j.do(ctx)
		j.felt += n
		if err != nil {
			if ctx.Err() == nil {
				j.err = err
			}
			return
		}
	}
}

// Heal implements Strike.
func (j *jobStrike) Heal(ctx context.Context) error {
	if j.stop != nil {
		j.stop()
		<-j.done
	}
	if j.undo == nil {
		return j.err
	}
	_, err := j.undo(ctx)
	return errors.Join(j.err, err)
}

// Felt implements Strike: what the jobs did. It is read after Heal.
func (j *jobStrike) Felt() int64 { return j.felt }
