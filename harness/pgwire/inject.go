package pgwire

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"
)

// refusal is how PostgreSQL words an error, and whether it ends the session.
type refusal struct {
	message string
	fatal   bool
}

var refusals = map[string]refusal{
	"08006": {"connection failure", true},
	"25006": {"cannot execute the statement in a read-only transaction", false},
	"40001": {"could not serialize access due to concurrent update", false},
	"40P01": {"deadlock detected", false},
	"53300": {"sorry, too many clients already", false},
	"57014": {"canceling statement due to user request", false},
	"57P01": {"terminating connection due to administrator command", true},
}

// Injectable lists the codes that Fail words as PostgreSQL does. Any other is
// answered as an ERROR that says only that it was injected.
func Injectable() []string { return slices.Sorted(maps.Keys(refusals)) }

// refusalFor words an error; the zero code is an internal error, XX000.
func refusalFor(code string) (string, refusal) {
	if code == "" {
		code = "XX000"
	}
	r, known := refusals[code]
	if !known {
		r = refusal{message: fmt.Sprintf("injected error %s", code)}
	}
	return code, r
}

func (r refusal) encode(code string) []byte {
	severity := "ERROR"
	if r.fatal {
		severity = "FATAL"
	}
	return encode(&pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: code, Message: r.message,
		Detail: "Injected by the proxy.",
	})
}

// abort makes an open transaction fail in the database. It is a Parse of the
// extended protocol: a simple Query would drop the client's unnamed statement.
var abort = append(
	encode(&pgproto3.Parse{Name: "idemstorm_abort", Query: "transaction aborted by an injected error"}),
	syncBytes...)

var (
	syncBytes  = encode(&pgproto3.Sync{})
	flushBytes = encode(&pgproto3.Flush{})
)

func readyBytes(status byte) []byte { return encode(&pgproto3.ReadyForQuery{TxStatus: status}) }

// encode cannot fail: the messages of this package are far from any limit.
func encode(m pgproto3.Message) []byte {
	out, err := m.Encode(nil)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", m, err))
	}
	return out
}
