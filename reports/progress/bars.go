package progress

import (
	"io"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// bars draws one bar a phase on a terminal; those of ended phases stay above the current one.
type bars struct {
	w     io.Writer
	all   *mpb.Progress
	bar   *mpb.Bar
	total int64
}

// begin starts the container with the first bar, so that a progress without phases leaves nothing to wait for.
func (b *bars) begin(name string, total int64) {
	if b.all == nil {
		b.all = mpb.New(mpb.WithOutput(b.w), mpb.WithAutoRefresh())
	}
	b.total = total
	title := mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR))
	speed := decor.AverageSpeed(0, "%.1f/s", decor.WCSyncSpace)
	if total <= 0 {
		b.bar = b.all.New(0, mpb.SpinnerStyle(), title,
			mpb.AppendDecorators(decor.CurrentNoUnit("%d", decor.WCSyncSpace), speed))
		return
	}
	left := decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace), "done")
	b.bar = b.all.New(total, mpb.BarStyle(), title,
		mpb.AppendDecorators(decor.CountersNoUnit("%d/%d", decor.WCSyncSpace), speed, left))
}

func (b *bars) update(done int64) {
	if b.total > 0 {
		done = min(done, b.total-1) // full is for the phase's end to say
	}
	b.bar.SetCurrent(done)
}

// end tells a phase that was given up from one that was finished: its bar stays short.
func (b *bars) end(done int64) {
	if b.total > 0 && done < b.total {
		b.bar.SetCurrent(done)
		b.bar.Abort(false)
	} else {
		b.bar.SetTotal(done, true)
		b.bar.SetCurrent(done)
	}
	b.bar.Wait()
}

// close waits for the last drawing; the next phase begins a container of its own.
func (b *bars) close() {
	if b.all != nil {
		b.all.Wait()
		b.all = nil
	}
}

// above writes lines over the bars, and straight to the terminal where there are none.
type above struct {
	bars *bars
	w    io.Writer
}

func (a above) Write(line []byte) (int, error) {
	if a.bars.all == nil {
		return a.w.Write(line)
	}
	return a.bars.all.Write(line)
}
