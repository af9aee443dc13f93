package explore

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// session is what is known of one connection in the course of a schedule.
type session struct {
	actor   int                // that used it last; -1 for none yet
	pid     int32              // of its backend
	inTx    bool               // its transaction began in this schedule
	tx      schedule.Footprint // of the transaction so far
	flushed schedule.Footprint // of what a client sent with Flush, and has not ended by a Sync
	pending bool               // there is such a thing
}

func (p *playing) session(w wire) *session {
	s := p.sessions[w]
	if s == nil {
		s = &session{actor: -1}
		p.sessions[w] = s
	}
	return s
}

// describe says what a step is in a schedule; counts is false for one that nobody can observe: preparing a statement, an empty
// one, a Sync that commits nothing.
//
// A Sync is a step of its own only where it commits: after an autocommitted write. Inside an explicit transaction it commits
// nothing, and after a pure read there is nothing that others could see or wait for; so neither is worth a choice.
func (s *session) describe(step *pgwire.Step, stage *Stage) (out schedule.Step, counts bool) {
	switch {
	case step.Of != nil:
		out = schedule.Step{Kind: schedule.Commit, SQL: step.Of.SQL()}
		out.Footprint, _ = s.footprint(step.Of, stage.catalog)
		return out, true
	case step.Kind == pgwire.Sync:
		out = schedule.Step{Kind: schedule.Commit, Footprint: s.flushed}
		return out, s.pending
	case allEmpty(step.Executes), idle(step):
		return out, false
	}
	out = schedule.Step{Kind: schedule.Statement, SQL: step.SQL()}
	var begun bool
	out.Footprint, begun = s.footprint(step, stage.catalog)
	if stage.opts.Params {
		out.Params = shown(step.Executes)
	}
	if step.Kind == pgwire.Extended && step.TxStatus == 'I' && !begun && !out.Footprint.ReadOnly() {
		out.Kind = schedule.Execute
	}
	return out, true
}

func allEmpty(statements []pgwire.Statement) bool {
	for _, statement := range statements {
		if understand(statement.SQL).verb != nothing {
			return false
		}
	}
	return true
}

// footprint is what a step may touch. The end of a transaction touches all that the transaction did: it makes its writes visible
// and frees its locks. begun says that an explicit transaction begins in the step.
func (s *session) footprint(step *pgwire.Step, catalog Catalog) (f schedule.Footprint, begun bool) {
	tx := s.tx
	if step.TxStatus != 'I' && !s.inTx {
		tx = everything
	}
	for _, executed := range step.Executes {
		understood := understand(executed.SQL)
		switch understood.verb {
		case begins:
			begun = true
		case ends:
			f = f.Union(tx)
		default:
			one := catalog.footprint(understood)
			f, tx = f.Union(one), tx.Union(one)
		}
	}
	return f, begun
}

// ended follows the transaction.
func (s *session) ended(step *pgwire.Step, outcome pgwire.Outcome) {
	switch outcome.TxStatus {
	case 'T', 'E':
		s.inTx = s.inTx || step.TxStatus == 'I'
	case 'I':
		s.inTx, s.tx = false, schedule.Footprint{}
		s.pending, s.flushed = false, schedule.Footprint{}
	}
}

// entered adds a released step to the transaction that it may be part of.
func (s *session) entered(step *pgwire.Step, f schedule.Footprint) {
	s.tx = s.tx.Union(f)
	if step.Kind == pgwire.Flushed {
		s.pending, s.flushed = true, s.flushed.Union(f)
	}
}

// shown gives the bound parameters as text.
func shown(statements []pgwire.Statement) (out []string) {
	for _, statement := range statements {
		for i, param := range statement.Params {
			switch {
			case param.Value == nil:
				out = append(out, fmt.Sprintf("$%d = NULL", i+1))
			case param.Binary:
				out = append(out, fmt.Sprintf("$%d = \\x%x", i+1, param.Value))
			default:
				out = append(out, fmt.Sprintf("$%d = '%s'", i+1, param.Value))
			}
		}
	}
	return out
}
