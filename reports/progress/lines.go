package progress

import (
	"fmt"
	"io"
	"time"
)

// lines writes one plain line an update, for logs that cannot be redrawn. A failure to write is not the run's concern.
type lines struct {
	w       io.Writer
	now     func() time.Time
	name    string
	total   int64
	started time.Time
}

func (l *lines) begin(name string, total int64) {
	l.name, l.total, l.started = name, total, l.now()
	if total > 0 {
		fmt.Fprintf(l.w, "%s: %d to do\n", name, total)
		return
	}
	fmt.Fprintf(l.w, "%s: begun\n", name)
}

// update extrapolates from the phase as a whole: lines are too far apart for a current rate.
func (l *lines) update(done int64) {
	took := l.now().Sub(l.started)
	rate := perSecond(done, took)
	if l.total <= 0 {
		fmt.Fprintf(l.w, "%s: %d, %.0f/s\n", l.name, done, rate)
		return
	}
	left := "unknown"
	if rate > 0 {
		left = time.Duration(float64(l.total-done) / rate * float64(time.Second)).Round(time.Second).String()
	}
	fmt.Fprintf(l.w, "%s: %d of %d (%d %%), %.0f/s, %s left\n", l.name, done, l.total, 100*done/l.total, rate, left)
}

func (l *lines) end(done int64) {
	took := l.now().Sub(l.started)
	fmt.Fprintf(l.w, "%s: ended after %s, %d done, %.0f/s\n", l.name, took.Round(time.Millisecond), done, perSecond(done, took))
}

func (l *lines) close() {}

func perSecond(n int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}
