package pgwire

import "strings"

// Kind is the form of a step.
type Kind uint8

const (
	// Query is one message of the simple protocol. It may contain several
	// statements and is opaque: nothing can be held between them.
	Query Kind = iota
	// Extended is a batch of extended-protocol messages with its Sync.
	Extended
	// Flushed is a batch that the client ended with Flush; its Sync comes later.
	Flushed
	// Sync is a Sync alone: a client's own, or one split off (Step.Of). An
	// autocommitted statement of the extended protocol commits here, not before.
	Sync
	// Call is a FunctionCall message.
	Call
)

// String names the kind in lower case.
func (k Kind) String() string {
	return [...]string{"query", "extended", "flushed", "sync", "call"}[k]
}

// Conn identifies the connection that a step came over.
type Conn struct {
	ID          uint64 // counts from 1 in the order of arrival at the proxy
	PID         uint32 // of the backend, from BackendKeyData
	User        string
	Database    string
	Application string // application_name as the database reported it last
}

// Statement is one statement of a step.
type Statement struct {
	Name   string // of the prepared statement; empty for the unnamed one
	Portal string // empty for the unnamed one
	SQL    string // empty if it was prepared where the proxy could not see it
	Params []Param
}

// Param is one bound parameter. It may hold what must not be shown: it is
// filled in only under Options.Params.
type Param struct {
	Value  []byte // nil for NULL
	Binary bool   // in the type's binary format; otherwise text
}

// Step is what the database receives in one go. It belongs to the
// controller as soon as it is handed over; the proxy does not change it.
type Step struct {
	Conn     Conn
	Seq      int // counts from 1 on its connection, split Syncs included
	Kind     Kind
	Prepares []Statement // parsed here, to be run later or in the same step
	Executes []Statement // run here, in order
	TxStatus byte        // before the step: 'I' idle, 'T' in a transaction, 'E' in a failed one
	Of       *Step       // for a Sync split off: the step whose statements it commits
}

// SQL joins what the step runs, for people; a split Sync shows nothing.
func (s *Step) SQL() string {
	texts := make([]string, len(s.Executes))
	for i, statement := range s.Executes {
		texts[i] = statement.SQL
	}
	return strings.Join(texts, "; ")
}
