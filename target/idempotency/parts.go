package idempotency

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Parts are the replaceable pieces of a Middleware. A nil part takes no reference implementation silently: New
// refuses it. Start from Reference and replace what should differ.
type Parts struct {
	Gate      Gate
	Body      BodyReader
	Matcher   Matcher
	Scoper    Scoper
	Claimer   Claimer
	Executor  Executor
	Completer Completer
	Outage    OutagePolicy
	Replayer  Replayer
	Auditor   Auditor
	Forwarder Forwarder
	Sweeper   Sweeper
	Eraser    Eraser
	Clock     Clock
}

// Reference returns the parts that follow the contract. business carries the actions' transactions; store carries
// claims and reads, and may be a pool of its own on the same database, so that each can be out without the other
// (contract section 6.7). A claim older than staleAfter counts as abandoned; 0 means DefaultStaleAfter.
func Reference(business, store *pgxpool.Pool, staleAfter time.Duration) Parts {
	if staleAfter <= 0 {
		staleAfter = DefaultStaleAfter
	}
	return Parts{
		Gate:      OpenGate{},
		Body:      WholeBody{},
		Matcher:   ContractMatcher{},
		Scoper:    UserEndpointScoper{},
		Claimer:   &InsertClaimer{Store: store, StaleAfter: staleAfter},
		Executor:  &TxExecutor{Pool: business},
		Completer: &RowCompleter{Store: store},
		Outage:    TierPolicy{},
		Replayer:  StoredReplayer{},
		Auditor:   AuditLog{},
		Forwarder: HeaderForwarder{},
		Sweeper:   ExpirySweeper{},
		Eraser:    RecordEraser{},
		Clock:     SystemClock{},
	}
}

func (p Parts) missing() string {
	for _, part := range []struct {
		name string
		set  bool
	}{
		{"Gate", p.Gate != nil},
		{"Body", p.Body != nil},
		{"Matcher", p.Matcher != nil},
		{"Scoper", p.Scoper != nil},
		{"Claimer", p.Claimer != nil},
		{"Executor", p.Executor != nil},
		{"Completer", p.Completer != nil},
		{"Outage", p.Outage != nil},
		{"Replayer", p.Replayer != nil},
		{"Auditor", p.Auditor != nil},
		{"Forwarder", p.Forwarder != nil},
		{"Sweeper", p.Sweeper != nil},
		{"Eraser", p.Eraser != nil},
		{"Clock", p.Clock != nil},
	} {
		if !part.set {
			return part.name
		}
	}
	return ""
}
