package explore

import (
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// behind remembers which statements wait behind whom, so that the database is not asked again while nothing can have changed: what
// a statement waits for is held until the end of a transaction. Asking takes longer than most statements do.
type behind map[*holding]schedule.Blocked

func (b *behind) forget() { *b = nil }

// ended takes in the end of a step. Locks stay with an open transaction, whose statements are all understood: none that is not may
// have given one back (an advisory lock, a savepoint).
func (b *behind) ended(h *holding, outcome pgwire.Outcome) {
	if outcome.End != pgwire.Answered || outcome.TxStatus != 'T' || h.step.Footprint.All {
		b.forget()
	}
}

// foundBlocked takes in what the database says of everything that waits, unless something has happened since.
func (p *playing) foundBlocked(st standing, blocked []schedule.Blocked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.behind.forget()
	if p.seen != st.seen {
		return
	}
	p.behind = behind{}
	for i, h := range st.waiting {
		p.behind[h] = blocked[i]
	}
}

// stillBlocked gives what these statements wait for; false if one of them has to be asked about.
func (p *playing) stillBlocked(waiting []*holding) (blocked []schedule.Blocked, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range waiting {
		on, known := p.behind[h]
		if !known {
			return nil, false
		}
		blocked = append(blocked, on)
	}
	return blocked, true
}
