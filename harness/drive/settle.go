package drive

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

// settlers is how many open operations are asked for at a time.
const settlers = 32

// openList holds the operations that have a key and no final answer. Memory grows with these only.
type openList struct {
	mu  sync.Mutex
	ops []openOp
}

type openOp struct {
	op   history.Operation
	n    int   // attempts so far
	due  int64 // when it is asked for next
	done bool
	atNS int64 // when the final answer came
}

func (l *openList) add(o history.Operation, attempts int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ops = append(l.ops, openOp{op: o, n: attempts})
}

// settle asks for every open operation, again and again, until each has a final answer or the patience is at an end.
func (d *driver) settle(ctx context.Context) {
	open := d.open.ops
	slices.SortFunc(open, func(a, b openOp) int { return cmp.Compare(a.op.ID, b.op.ID) })
	if len(open) > 0 && d.Settle.Within > 0 && d.awaitHeal(ctx) {
		patience, cancel := context.WithTimeout(ctx, d.Settle.Within)
		defer cancel()
		d.Writer.Note(history.Note{AtNS: d.now(), Kind: "phase", Text: "settle"})
		end := d.progress.phase("settle", int64(len(open)))
		open = d.rounds(ctx, patience, open)
		end()
		d.Writer.Note(history.Note{AtNS: d.now(), Kind: "phase-end", Text: "settle"})
	}
	for _, o := range open {
		d.result.Unsettled = append(d.result.Unsettled, o.op.ID)
	}
}

func (d *driver) awaitHeal(ctx context.Context) bool {
	if d.Healed == nil {
		return ctx.Err() == nil
	}
	select {
	case <-d.Healed:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// rounds returns what is still open at the end.
func (d *driver) rounds(ctx, patience context.Context, open []openOp) []openOp {
	lanes := make([]*lane, min(settlers, len(open)))
	for i := range lanes {
		lanes[i] = d.newLane()
		defer lanes[i].close()
	}
	for len(open) > 0 && patience.Err() == nil {
		d.round(ctx, patience, lanes, open)
		for _, o := range open {
			if o.done {
				d.result.Settled = append(d.result.Settled, Settlement{o.op.ID, o.atNS})
			}
		}
		open = slices.DeleteFunc(open, func(o openOp) bool { return o.done })
		if len(open) > 0 {
			next := slices.MinFunc(open, func(a, b openOp) int { return cmp.Compare(a.due, b.due) })
			d.sleep(patience, next.due)
		}
	}
	slices.SortFunc(d.result.Settled, func(a, b Settlement) int { return cmp.Compare(a.AtNS, b.AtNS) })
	return open
}

// round asks once for each operation that is due.
func (d *driver) round(ctx, patience context.Context, lanes []*lane, open []openOp) {
	queue := make(chan *openOp)
	var wg sync.WaitGroup
	for _, l := range lanes {
		wg.Go(func() {
			for o := range queue {
				l.ask(ctx, o)
			}
		})
	}
	now := d.now()
	for i := range open {
		if open[i].due > now {
			continue
		}
		select {
		case queue <- &open[i]:
		case <-patience.Done():
		}
	}
	close(queue)
	wg.Wait()
}

// ask makes one attempt of the patient client.
func (l *lane) ask(ctx context.Context, o *openOp) {
	o.n++
	a, meaning := l.attempt(ctx, try{op: &o.op, n: o.n, intended: l.d.now(), settle: true})
	if a.Outcome == history.Returned && meaning.Final() {
		o.done, o.atNS = true, a.DoneNS
		l.d.progress.add(1)
		return
	}
	wait := l.d.Settle.Every
	if asked := retryAfter(&a); asked > 0 {
		wait = min(wait, asked)
	}
	o.due = a.DoneNS + int64(max(wait, time.Millisecond))
}
