package explore

import "slices"

// attribute says whose a step is. At a gate with an owner that is known. At a shared one it follows from who could have sent it: only
// one actor runs at a time, since the others are held, wait for the database, or are done. Where more than one could, the
// connection decides, if one of them holds a transaction on it or used it last; otherwise the guess is reported.
func (p *playing) attribute(g *gate, w wire) (actor int, ok bool) {
	if g.owner != Shared {
		return g.owner, g.owner < len(p.lanes)
	}
	if s := p.sessions[w]; s.inTx && s.actor >= 0 {
		return s.actor, true
	}
	running := p.running()
	switch len(running) {
	case 0:
		return 0, false
	case 1:
		return running[0], true
	}
	if free := p.outsideTransactions(running); len(free) == 1 {
		return free[0], true // the others would go on in the transactions that they have open
	}
	if last := p.sessions[w].actor; slices.Contains(running, last) {
		return last, true
	}
	p.doubt("a statement could have been of several requests, and was taken for the first's")
	return running[0], true
}

// outsideTransactions leaves those who have no transaction open on any connection.
func (p *playing) outsideTransactions(actors []int) (out []int) {
	open := map[int]bool{}
	for _, s := range p.sessions {
		open[s.actor] = open[s.actor] || s.inTx
	}
	for _, actor := range actors {
		if !open[actor] {
			out = append(out, actor)
		}
	}
	return out
}

// running lists the actors that are started, not done, not held and not waiting for the database.
func (p *playing) running() (out []int) {
	for i, l := range p.lanes {
		if l.started && l.play == nil && l.runs() {
			out = append(out, i)
		}
	}
	return out
}
