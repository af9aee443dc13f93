package explore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// background are the statements that a server issues on its own, while nobody asks it for anything: jobs, heartbeats. Held, they would come
// between the steps of requests at random; so they pass, and leave the claim open.
type background struct {
	mu        sync.Mutex // guards what follows
	listening bool
	list      []string // normal forms
}

func (b *background) hear(step *pgwire.Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	form := normal(step.SQL())
	if b.listening && form != "" && !idle(step) && !bounds(step) && !slices.Contains(b.list, form) {
		b.list = append(b.list, form)
	}
}

// bounds tells the bounds of a transaction: requests have the same, and theirs must be held.
func bounds(step *pgwire.Step) bool {
	for _, executed := range step.Executes {
		if v := understand(executed.SQL).verb; v != begins && v != ends {
			return false
		}
	}
	return true
}

func (b *background) heard(sql string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list) > 0 && slices.Contains(b.list, normal(sql))
}

func (b *background) listen(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listening = on
}

// Overhear listens for a while, in which no request is sent, to what the server issues on its own.
func (s *Stage) Overhear(ctx context.Context, during time.Duration) error {
	s.own.listen(true)
	defer s.own.listen(false)
	select {
	case <-time.After(during):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// idle tells what a pool or a driver sends outside of any transaction to look whether a connection lives or to set it up: it reads no
// table and leaves nothing that another session could see, so that its place in an order means nothing.
func idle(step *pgwire.Step) bool {
	if step.TxStatus != 'I' || len(step.Executes) == 0 || step.Kind == pgwire.Flushed {
		return false
	}
	for _, executed := range step.Executes {
		if !harmlessAlone(tokens(executed.SQL)) {
			return false
		}
	}
	return true
}

// settable are parameters of a session that decide neither what its statements mean nor what they see.
var settable = []string{
	"application_name", "client_encoding", "client_min_messages", "datestyle", "extra_float_digits", "idle_in_transaction_session_timeout",
	"intervalstyle", "lock_timeout", "standard_conforming_strings", "statement_timeout", "time", "timezone",
}

func harmlessAlone(ts []token) bool {
	ts = slices.DeleteFunc(slices.Clone(ts), func(t token) bool { return t.is(";", "session") })
	switch {
	case len(ts) == 0:
		return true
	case ts[0].is("set") && len(ts) > 1:
		return slices.ContainsFunc(settable, func(name string) bool { return ts[1].is(name) })
	case ts[0].is("listen", "unlisten", "show"):
		return true
	case ts[0].is("select"):
		return isPing(ts[1:])
	}
	return false
}

// isPing accepts a SELECT of constants, and of version().
func isPing(ts []token) bool {
	if len(ts) == 3 && ts[0].is("version") && ts[1].is("(") {
		return true
	}
	return !slices.ContainsFunc(ts, func(t token) bool {
		return t.kind == quotedToken || t.kind == wordToken && !t.is("true", "as", "ok", "alive", "ping", "result") || t.is("(")
	})
}

// closed tells a statement whose parts nobody can come between although they could race: one that reads and writes, committed at once, by a
// protocol in which it is one message.
func (s *session) closed(step *pgwire.Step) bool {
	if step.Kind != pgwire.Query || step.TxStatus != 'I' {
		return false
	}
	for _, executed := range step.Executes {
		switch understood := understand(executed.SQL); understood.verb {
		case inserts, modifies:
			if len(understood.reads) > 0 && len(understood.writes) > 0 {
				return true
			}
		case opaque:
			if mayRace(tokens(executed.SQL)) {
				return true
			}
		}
	}
	return false
}

// indivisible are functions that do one thing, between whose parts nobody can come: to sleep, to take an advisory lock or give it back.
var indivisible = []string{
	"pg_advisory_lock", "pg_advisory_unlock", "pg_advisory_unlock_all", "pg_advisory_xact_lock", "pg_sleep", "pg_try_advisory_lock",
	"pg_try_advisory_xact_lock",
}

// mayRace tells what is not understood and may run a program in the database, or several statements.
func mayRace(ts []token) bool {
	if len(ts) > 3 && ts[0].is("select") && ts[1].is(indivisible...) && ts[2].is("(") &&
		!slices.ContainsFunc(ts[3:], func(t token) bool { return t.is(";", "(", "from") }) {
		return false
	}
	return ts[0].is("select", "with", "insert", "update", "delete", "merge", "call", "do") ||
		slices.ContainsFunc(ts[:len(ts)-1], func(t token) bool { return t.is(";") })
}
