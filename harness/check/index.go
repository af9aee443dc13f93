package check

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sort"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/pile"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// index is the run, arranged once for all invariants.
type index struct {
	contract contract.Contract
	limits   Limits
	set      *evidence.Set
	replays  *evidence.Replays
	ops      pile.Of[operation] // by id
	routes   routes
	answers  classifier
	fates    []fate         // see fatesOf
	lives    []*scope       // the scopes, those divided that a stated loss explains; see divide
	lost     []verdict.Lost // acknowledged orders that a stated loss explains
	cut      cut
	scopes   []*scope // in the plan's order, then those that only rows know
	named    map[name]*scope
	windows  windows
	flags    []flag
	stalls   []stall
	erased   map[int64]int64 // when a user was erased
	expired  map[name]int    // how often a final record came to the end of its life, as notes say
	endNS    int64           // the last thing that happened
	healedNS int64           // the last heal; 0 without a fault
	driven   int64           // end of the last attempt that was not sent to settle a key

	partial     string // why the history is not whole
	missing     string // why there is no evidence at all
	interrupted bool
	doubts      []string
}

func newIndex(in Input) *index {
	ix := &index{
		contract: in.Contract, routes: routesOf(in.Contract), answers: classifier{contract: in.Contract}, limits: in.Limits.withDefaults(), set: &in.Evidence,
		missing: in.Missing,
		named:   map[name]*scope{}, erased: map[int64]int64{}, expired: map[name]int{}, cut: cut{safe: -1, strike: -1},
	}
	ix.addOperations(in)
	ix.addEvents(in)
	if in.Rows != nil {
		*ix.set, ix.replays, ix.missing = in.Rows()
	} else {
		ix.replays = evidence.PackReplays(in.Evidence.Replays)
	}
	ix.addRows()
	ix.findCut()
	ix.prove()
	ix.mark()
	ix.divide()
	return ix
}

func (ix *index) addOperations(in Input) {
	for o, err := range in.Operations {
		if err != nil {
			ix.damaged(fmt.Sprintf("the plan could not be read whole: %v", err))
			break
		}
		op := operation{
			id: o.ID, request: maphash.String(seed, o.Request), once: o.Once,
			malformed: len(o.Keys) > 0 && o.Key == "", firstSent: forever,
		}
		if o.Spelling != "" {
			spelling := o.Spelling
			op.spelling = &spelling
		}
		op.scope = ix.scopeOf(&o)
		if op.malformed {
			op.scope.spelled = slices.Clone(o.Keys)
		}
		op.scope.planned++
		ix.ops.Add(op)
	}
	ix.ops.Sort(byID)
	ix.deal()
}

// deal gives each scope its operations, and room for their attempts, out of one piece for all.
func (ix *index) deal() {
	ops, room := make([]*operation, ix.ops.Len()), make([]attempt, ix.ops.Len()+ix.ops.Len()/4)
	for _, s := range ix.scopes {
		n := s.planned
		most := n + n/4 // some operations are asked for again
		s.ops, s.attempts = ops[:0:n], room[:0:most]
		ops, room = ops[n:], room[most:]
	}
	for i := range ix.ops.Len() { // only now: they do not move any more
		op := ix.ops.At(i)
		op.place = int32(len(op.scope.ops))
		op.scope.ops = append(op.scope.ops, op)
	}
}

func byID(a, b operation) int { return compare(a.id, b.id) }

// scopeOf finds or makes the scope of an operation. What has no key shares its scope with nothing.
func (ix *index) scopeOf(o *history.Operation) *scope {
	n := name{key: o.Key, user: o.User, endpoint: ix.routes.endpoint(o)}
	if o.Key == "" {
		return ix.newScope(n)
	}
	n.user = ix.owner(n.user)
	return ix.scopeNamed(n)
}

// owner is whose key it is: that of a user, or of everybody where users share keys.
func (ix *index) owner(user int64) int64 {
	if ix.contract.SharedKeys && user > 0 {
		return 1
	}
	return user
}

func (ix *index) scopeNamed(n name) *scope {
	if s, ok := ix.named[n]; ok {
		return s
	}
	s := ix.newScope(n)
	ix.named[n] = s
	return s
}

func (ix *index) newScope(n name) *scope {
	s := &scope{name: n, route: ix.routes.byScope[n.endpoint]}
	ix.scopes = append(ix.scopes, s)
	return s
}

// operation finds an operation by id; nil for an unknown one.
func (ix *index) operation(id int64) *operation {
	n := ix.ops.Len()
	if i := int(id) - 1; i >= 0 && i < n && ix.ops.At(i).id == id { // ids are dense, as a rule
		return ix.ops.At(i)
	}
	if i := sort.Search(n, func(i int) bool { return ix.ops.At(i).id >= id }); i < n && ix.ops.At(i).id == id {
		return ix.ops.At(i)
	}
	return nil
}

func (ix *index) addEvents(in Input) {
	unknown := 0
	for e, err := range in.Events {
		switch {
		case err != nil:
			ix.damaged(fmt.Sprintf("the history could not be read whole: %v", err))
		case e.Attempt != nil:
			if !ix.addAttempt(e.Attempt) {
				unknown++
			}
		case e.Fault != nil:
			ix.addFault(e.Fault)
		case e.Note != nil:
			ix.addNote(e.Note)
		}
	}
	if unknown > 0 {
		ix.damaged(fmt.Sprintf("%d attempts belong to no planned operation", unknown))
	}
	for _, s := range ix.scopes {
		bySent := func(a, b attempt) int { return compare(a.sent, b.sent) }
		if !slices.IsSortedFunc(s.attempts, bySent) {
			slices.SortStableFunc(s.attempts, bySent)
		}
	}
}

func (ix *index) damaged(why string) {
	if ix.partial == "" {
		ix.partial = why
	}
	ix.doubts = append(ix.doubts, why)
}

func (ix *index) addAttempt(e *history.Attempt) bool {
	op := ix.operation(e.Op)
	if op == nil {
		return false
	}
	ix.endNS = max(ix.endNS, e.DoneNS)
	if !e.Settle {
		ix.driven = max(ix.driven, e.DoneNS)
	}
	op.firstSent = min(op.firstSent, e.SentNS)
	switch e.Outcome {
	case history.Unsent:
		op.scope.unsent++
		return true
	case history.Cut:
		op.addCut(e)
		return true
	}
	a := attempt{
		op: op, n: int32(e.N), replica: int16(e.Replica), status: int32(e.Status), sent: e.SentNS, whole: max(e.SentNS, e.LastByteNS), done: e.DoneNS, out: outcomeOf(e.Outcome), settle: e.Settle,
		marked: e.Marked,
	}
	if a.returned() {
		a.means = meaningOf(ix.answers.of(e))
	}
	if a.acked() || op.once {
		a.body = bodyHash(e.Body)
	}
	if op.once {
		a.code = errorCode(e.Body)
	}
	op.scope.attempts = append(op.scope.attempts, a)
	return true
}

// addRows hangs every row on the scope that it names; rows without a key on the scope of their operation.
func (ix *index) addRows() {
	for i := range ix.set.Orders {
		o := &ix.set.Orders[i]
		s := ix.rowScope(o.Key, o.User, o.Endpoint, o.Operation)
		s.orders = append(s.orders, o)
	}
	for i := range ix.set.Audits {
		a := &ix.set.Audits[i]
		s := ix.rowScope(a.Key, a.User, a.Endpoint, a.Operation)
		s.audits = append(s.audits, a)
	}
	ix.addReplays()
	for i := range ix.set.Records {
		r := &ix.set.Records[i]
		s := ix.rowScope(r.Key, r.User, r.Endpoint, 0)
		s.records = append(s.records, r)
	}
	for i := range ix.set.Charges {
		c := &ix.set.Charges[i]
		s := ix.rowScope(c.Key, c.User, ix.chargedEndpoint(), c.Operation)
		s.charges = append(s.charges, c)
	}
}

// addReplays asks once for the scope of all rows that share theirs.
func (ix *index) addReplays() {
	scopes := make([]*scope, ix.replays.Shared())
	for i := range ix.replays.Len() {
		place, a := ix.replays.Common(i)
		s := scopes[place]
		if s == nil || a.Key == "" {
			s = ix.rowScope(a.Key, a.User, a.Endpoint, ix.replays.Operation(i))
			scopes[place] = s
		}
		s.replays = append(s.replays, int32(i))
	}
}

// rowScope finds the scope of a row. User 0 of a row is a service call.
func (ix *index) rowScope(key string, user int64, endpoint string, op int64) *scope {
	if user == 0 {
		user = history.ServiceUser
	}
	if o := ix.operation(op); key == "" && o != nil {
		return o.scope
	}
	// A key that was stored as it was spelled is still that key: the plan has it in lower case.
	n := name{key: strings.ToLower(key), user: ix.owner(user), endpoint: endpoint}
	if key == "" {
		return ix.newScope(n)
	}
	return ix.scopeNamed(n)
}

// chargedEndpoint is the route that charges the provider; its ledger does not name endpoints.
func (ix *index) chargedEndpoint() string {
	for _, r := range ix.contract.Routes {
		if r.Evidence.Charge {
			return r.Scope()
		}
	}
	return ""
}
