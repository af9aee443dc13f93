package history

// Event is one line of a history file; exactly one field is set. A new kind of fact costs one field here, one codec line,
// and the invariant that uses it.
type Event struct {
	Attempt *Attempt `json:"attempt,omitempty"`
	Fault   *Fault   `json:"fault,omitempty"`
	Note    *Note    `json:"note,omitempty"`
}

// Outcome says how an attempt ended, as the client saw it.
type Outcome string

// The outcomes. Unsent and Cut are certain not to have reached the server as a request; Lost may have executed or not, and only rows tell.
const (
	Returned Outcome = "returned" // an answer was read whole
	Lost     Outcome = "lost"     // sent, and no whole answer: timed out, reset, given up
	Unsent   Outcome = "unsent"   // no connection could be made; nothing was sent
	Cut      Outcome = "cut"      // sent in part, and never the rest: its last bytes are missing
)

// The causes of lost, unsent and cut attempts.
const (
	CauseTimeout     = "timeout"     // the operation's deadline passed
	CauseGaveUp      = "gave_up"     // the client hung up, or broke off sending, as planned
	CauseReset       = "reset"       // the connection broke or was closed before the answer was whole
	CauseRefused     = "refused"     // no connection could be made
	CauseInterrupted = "interrupted" // the run was stopped
	CauseOther       = "other"       // the answer was no HTTP, or too large
)

// Attempt is one HTTP request for an operation. Times are nanoseconds since the run's zero.
type Attempt struct {
	Op         int64   `json:"op"`
	N          int     `json:"n"`                      // from 1
	Replica    int     `json:"replica"`                // from 1: the address it was sent to
	IntendedNS int64   `json:"intended_ns"`            // when it was due: open loop by plan, else when its client was free
	SentNS     int64   `json:"sent_ns"`                // just before the request was handed to the network
	DoneNS     int64   `json:"done_ns"`                // answer read whole, or given up; of a lost attempt the effect may come later
	LastByteNS int64   `json:"last_byte_ns,omitempty"` // of a request sent in pieces: when its last byte was handed to the network
	Outcome    Outcome `json:"outcome"`
	Cause      string  `json:"cause,omitempty"`       // of an attempt without an answer, one of the causes above
	BytesSent  int     `json:"bytes_sent,omitempty"`  // of a request that was not sent whole
	Status     int     `json:"status,omitempty"`      // HTTP status of a returned attempt
	Marked     bool    `json:"marked,omitempty"`      // Idempotency-Replayed: true was set
	RetryAfter string  `json:"retry_after,omitempty"` // header as received
	Body       []byte  `json:"body,omitempty"`        // answer body; a JSON string in the file when it is valid UTF-8, else base64 under body_b64
	Settle     bool    `json:"settle,omitempty"`      // sent after the last heal, by the patient client that settles open keys
}

// Fault is a fault beginning or healing.
type Fault struct {
	ID    int    `json:"id"`    // place in the timeline, from 1
	Name  string `json:"name"`  // kind, such as "path-hang"
	On    string `json:"on"`    // what it strikes, such as "store of replica 1"
	Phase string `json:"phase"` // one of the phases below
	AtNS  int64  `json:"at_ns"`
	Total bool   `json:"total,omitempty"` // nothing can pass while it lasts, for every replica: an outage in the contract's sense
	Bit   int64  `json:"bit,omitempty"`   // on healing: how many connections or statements it affected
	Info  string `json:"info,omitempty"`

	Replica int `json:"replica,omitempty"` // from 1: the only replica whose requests it strikes; 0: those of all
}

// The phases of a fault. FaultStriking is written before the injection starts, FaultBegan when it is complete, FaultHealing before healing
// starts and FaultHealed after it is complete: [began, healing] lies wholly inside the fault, and the fault wholly inside [striking, healed].
const (
	FaultStriking = "striking"
	FaultBegan    = "began"
	FaultHealing  = "healing"
	FaultHealed   = "healed"
)

// Note is anything else worth a line on the time axis: a phase began, a replica was started, the run was interrupted.
type Note struct {
	AtNS int64  `json:"at_ns"`
	Kind string `json:"kind"` // phase, phase-end, replica, interrupted, flag, late
	Text string `json:"text"`
}

// Row is one database row (or ledger line) as a fact: where it stands and what it says.
type Row struct {
	Table  string            `json:"table"`
	ID     string            `json:"id"`
	Fields map[string]string `json:"fields"`
}

// Ref points at an attempt: operation id and attempt number (0: the operation as a whole).
type Ref struct {
	Op int64 `json:"op"`
	N  int   `json:"n,omitempty"`
}
