package check

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
)

// window is one fault's time. [began, healing] lies wholly inside it, and all of it inside [struck, healed].
type window struct {
	id       int
	struck   int64
	began    int64
	healing  int64
	healed   int64
	total    bool
	store    bool // strikes the path to the key store
	database bool // strikes the handlers' path
	replica  int  // the only replica whose requests it strikes; 0: those of all
	name     string
}

// flag is a switch of the server's as notes report it: of "name=true" or "name=false".
type flag struct {
	at   int64
	name string
	on   bool
}

// Switches that notes of kind "flag" may name. The note of a change is written when the change has taken effect on every replica.
const (
	flagMiddleware = "idempotency_middleware"
	flagGate       = "new_orders_disabled"
)

// Kinds of notes that bear on a judgement. An "erased" note's text is the user's id, that of an
// "expired" note the key, the user and the endpoint of a final record that came to the end of its life.
const (
	noteInterrupted = "interrupted"
	noteFlag        = "flag"
	noteErased      = "erased"
	noteExpired     = "expired"
)

func (ix *index) addFault(f *history.Fault) {
	ix.endNS = max(ix.endNS, f.AtNS)
	ix.windows.add(f)
	if f.Phase == history.FaultHealed {
		ix.healedNS = max(ix.healedNS, f.AtNS)
	}
}

// windows are the faults of a run, by the moment of their first event.
type windows []window

func (ws *windows) add(f *history.Fault) *window {
	w := ws.of(f)
	w.struck = min(w.struck, f.AtNS)
	switch f.Phase {
	case history.FaultBegan:
		w.began = f.AtNS
	case history.FaultHealing:
		w.healing = min(w.healing, f.AtNS)
	case history.FaultHealed:
		w.healing, w.healed = min(w.healing, f.AtNS), f.AtNS
	}
	return w
}

// of finds the fault's window or begins one. On names the path: "store …", "database …", "both …"; what says neither may
// be both.
func (ws *windows) of(f *history.Fault) *window {
	for i := range *ws {
		if (*ws)[i].id == f.ID {
			return &(*ws)[i]
		}
	}
	*ws = append(*ws, window{
		id: f.ID, name: f.Name + " on " + f.On, struck: f.AtNS, began: forever, healing: forever, healed: forever, total: f.Total, replica: f.Replica,
		store: !strings.HasPrefix(f.On, "database") && !bystander(f.On), database: !strings.HasPrefix(f.On, "store") && !bystander(f.On),
	})
	return &(*ws)[len(*ws)-1]
}

// felt says whether a request to a replica, under way during [sent, done], may have felt the fault.
func (w *window) felt(replica int, sent, done int64) bool {
	return done >= w.struck && sent <= w.healed && (w.replica == 0 || w.replica == replica)
}

// bystander says whether a fault strikes something that leaves both ways to the databases alone.
func bystander(on string) bool {
	switch on {
	case "flags", "jobs", "records", "provider":
		return true
	}
	return strings.HasPrefix(on, "clock") // "clocks", "clock of replica 1"
}

func (ix *index) addNote(n *history.Note) {
	ix.endNS = max(ix.endNS, n.AtNS)
	switch n.Kind {
	case noteInterrupted:
		ix.interrupted = true
	case noteFlag:
		name, value, _ := strings.Cut(strings.TrimSpace(n.Text), "=")
		on, err := strconv.ParseBool(value)
		if err == nil {
			ix.flags = append(ix.flags, flag{at: n.AtNS, name: name, on: on})
		}
	case noteSafe:
		ix.cut.safe = n.AtNS
	case noteStruck:
		ix.cut.strike = n.AtNS
	case noteExpired:
		ix.addExpired(n.Text)
	case noteLate:
		ix.addLate(n)
	case noteErased:
		if user, err := strconv.ParseInt(strings.TrimSpace(n.Text), 10, 64); err == nil {
			ix.erased[user] = n.AtNS
		}
	}
}

func (ix *index) addExpired(text string) {
	key, rest, _ := strings.Cut(text, " ")
	user, endpoint, _ := strings.Cut(rest, " ")
	if id, err := strconv.ParseInt(user, 10, 64); err == nil {
		ix.expired[name{key: key, user: id, endpoint: endpoint}]++
	}
}

// margin is how long before its first and after its last notice a fault may be felt: requests already under way, and pools
// that hold broken connections.
func (ix *index) margin() int64 {
	return int64(max(ix.contract.Deadline, time.Second))
}

// mark says for every scope which exceptions of the contract may touch it.
func (ix *index) mark() {
	for _, s := range ix.scopes {
		if len(s.attempts) == 0 {
			continue
		}
		if s.route != nil && s.route.TTL > 0 {
			s.expiring = ix.endNS-s.firstSent() >= int64(s.route.TTL)
		}
		s.lives = 1 + ix.expired[s.name]
		s.expiring = s.expiring || s.lives > 1
		_, s.erased = ix.erased[s.user]
		s.faults = ix.feltByAll(s.attempts)
		s.outage = ix.reportedOutage(s)
		for i := range s.attempts {
			ix.markBy(s, &s.attempts[i])
		}
	}
}

// feltByAll lists the faults that one of the attempts may have felt, each once.
func (ix *index) feltByAll(attempts []attempt) (faults []int) {
	for i := range ix.windows {
		w := &ix.windows[i]
		if slices.ContainsFunc(attempts, func(a attempt) bool { return w.felt(int(a.replica), a.sent, a.done) }) {
			faults = append(faults, w.id)
		}
	}
	return faults
}

// reportedOutage says whether the server itself counted the key store as out for requests of this tier 2 route, which then ran without
// dedup: a busy machine, whose store answers past the deadline, is an outage that nobody planned.
func (ix *index) reportedOutage(s *scope) bool {
	return s.protected(contract.TierOpen) && ix.set.Counters[evidence.CounterName("idempotency_store_unavailable_total", s.endpoint)] > 0
}

// strained says whether an attempt, once it was sent whole, took so long that the server's own bounds, such as that on marking a record failed, may have struck.
func (ix *index) strained(a *attempt) bool {
	return ix.contract.Deadline > 0 && a.done-a.whole >= int64(ix.contract.Deadline)/2
}

func (ix *index) markBy(s *scope, a *attempt) {
	a.void, a.safe = ix.cut.void(a), ix.cut.happened() && a.done < ix.cut.safe
	if a.void {
		s.voided++
	}
	strained := ix.strained(a)
	s.disturbed = s.disturbed || strained
	s.outage = s.outage || (strained && ix.set.Counters == nil) // nobody is left to say that the store was in time
	m := ix.margin()
	until := a.done
	if a.open() {
		until += m // the server may be at it a while longer
	}
	for _, w := range ix.windows {
		if until >= w.struck-m && (w.healed == forever || a.sent <= w.healed+m) {
			s.disturbed = s.disturbed || w.store || w.database
			s.outage = s.outage || w.store
		}
	}
	s.off = s.off || ix.maybe(flagMiddleware, false, a.sent, until)
}

// maybe says whether the switch may have had the value at any moment of [from, to], with a margin for its taking effect.
func (ix *index) maybe(name string, value bool, from, to int64) bool {
	m := ix.margin()
	had := name == flagMiddleware // before the first note: the middleware on, the gate open
	since := int64(0)
	for _, f := range ix.flags {
		if f.name != name {
			continue
		}
		if had == value && from <= f.at+m && to >= since-m {
			return true
		}
		had, since = f.on, f.at
	}
	return had == value && to >= since-m
}

// surely says whether the switch had the value during all of [from, to].
func (ix *index) surely(name string, value bool, from, to int64) bool {
	return !ix.maybe(name, !value, from, to)
}

// outageOver finds the total outage of the key store that [a.sent, a.done] lies wholly inside of; nil if there is none.
func (ix *index) outageOver(a *attempt) *window {
	for i := range ix.windows {
		w := &ix.windows[i]
		if w.isOutage() && w.spans(a) {
			return w
		}
	}
	return nil
}

// outagesOver lists the total outages of the key store that one of the attempts, from sending to end, lies wholly inside of.
func (ix *index) outagesOver(attempts ...*attempt) (faults []int) {
	for i := range ix.windows {
		if w := &ix.windows[i]; w.isOutage() && slices.ContainsFunc(attempts, w.spans) {
			faults = append(faults, w.id)
		}
	}
	return faults
}

func (w *window) isOutage() bool { return w.total && w.store }

func (w *window) spans(a *attempt) bool { return a.sent >= w.began && a.done <= w.healing }

// protected says whether the route uses the key store at the given tier.
func (s *scope) protected(tier contract.Tier) bool { return s.route != nil && s.route.Tier == tier }
