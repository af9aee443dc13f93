// Package evidence reads the rows that a run left behind, through SQL that the subject names, and keeps them as facts.
//
// It stands between the driver and the checks: a verdict comes from orders, audit rows, key records and the provider's ledger,
// never from status codes alone.
package evidence

import "github.com/idemstorm/idemstorm/harness/history"

// Schema is the version of the evidence file.
const Schema = 1

// Set is everything that was read, before the first request and after the last key had settled. A nil slice means that the subject
// names no query for it: what it would show cannot be judged. An empty slice means that it was asked and there are no rows.
type Set struct {
	Schema   int                `json:"schema"`
	Opening  []Account          `json:"opening"`            // before the run
	Closing  []Account          `json:"closing"`            // after it
	Orders   []Order            `json:"orders"`             // all order rows
	Audits   []Audit            `json:"audits"`             // business audit rows
	Replays  []Audit            `json:"replays"`            // replay audit rows
	Records  []Record           `json:"records"`            // idempotency records left
	Charges  []Charge           `json:"charges"`            // the provider's ledger
	Counters map[string]float64 `json:"counters,omitempty"` // `name{endpoint="…"}` summed over replicas; nil when not scraped or a replica was restarted
	Secrets  []history.Row      `json:"secrets"`            // places where a credential was found in answers stored or logs: table or file, id, field
	Scanned  int64              `json:"scanned"`            // log lines and stored bodies that were searched for credentials

	// Sources are those that a target file names, where there are several: the first is what Orders was made from.
	Sources []Source `json:"sources,omitempty"`

	// What the servers held before the first fault, and after the last had healed and every key had settled. nil: there was no fault, or nobody could say.
	Before *Resources `json:"resources_before,omitempty"`
	After  *Resources `json:"resources_after,omitempty"`
}

// Account is what one user owns. Amounts are in cents, quantities in units.
type Account struct {
	User      int64            `json:"user"`
	CashCents int64            `json:"cash_cents"`
	Positions map[string]int64 `json:"positions"` // quantity by symbol; symbols without a holding are absent
}

// Order is one order row.
type Order struct {
	ID          string `json:"id"`
	Execution   string `json:"execution"` // identity of the committed run of the business action; legs of a roll share it
	Leg         int    `json:"leg"`
	User        int64  `json:"user"`
	Endpoint    string `json:"endpoint"`
	Key         string `json:"key,omitempty"`
	Operation   int64  `json:"operation,omitempty"` // 0 when the subject does not store it
	Symbol      string `json:"symbol"`
	Side        string `json:"side"`
	Quantity    int64  `json:"quantity"`
	AmountCents int64  `json:"amount_cents"` // signed effect on cash
	Status      string `json:"status"`       // filled, open, cancelled
	At          string `json:"at"`           // database clock, RFC 3339

	Columns map[string]string `json:"columns,omitempty"` // of somebody else's rows: what else they say, by their own names
}

// Audit is one audit row.
type Audit struct {
	ID        string `json:"id"`
	Execution string `json:"execution,omitempty"`
	User      int64  `json:"user"`
	Endpoint  string `json:"endpoint"`
	Key       string `json:"key,omitempty"`
	Operation int64  `json:"operation,omitempty"`
	Action    string `json:"action"`
	Hash      string `json:"hash,omitempty"`
	Code      int    `json:"code,omitempty"`
	At        string `json:"at"`
}

// Record is one row of idempotency_keys. Times are the database's, in microseconds since 1970.
type Record struct {
	ID        string `json:"id"`
	Key       string `json:"key"`
	User      int64  `json:"user"` // 0 for a service call
	Endpoint  string `json:"endpoint"`
	Hash      string `json:"hash"`
	Status    string `json:"status"`
	Code      int    `json:"code,omitempty"`
	Body      string `json:"body,omitempty"` // JSON text; "" for NULL
	CreatedUS int64  `json:"created_us"`
	LockedUS  int64  `json:"locked_us"`
	ExpiresUS int64  `json:"expires_us"`
}

// Charge is one line of the provider's ledger.
type Charge struct {
	ID          string `json:"id"`
	Key         string `json:"key,omitempty"`
	User        int64  `json:"user"`
	AmountCents int64  `json:"amount_cents"`
	Operation   int64  `json:"operation,omitempty"`
}

// Queries is the SQL that a subject names. An empty one says that this evidence cannot be had. The columns, by name, are the
// json names of the types above; users are NULL or 0 for service calls, amounts NUMERIC in currency units are not accepted: cents.
type Queries struct {
	Accounts  string `json:"accounts,omitempty" yaml:"accounts"`   // user, cash_cents
	Positions string `json:"positions,omitempty" yaml:"positions"` // user, symbol, quantity
	Orders    string `json:"orders,omitempty" yaml:"orders"`
	Audits    string `json:"audits,omitempty" yaml:"audits"`
	Replays   string `json:"replays,omitempty" yaml:"replays"`
	Records   string `json:"records,omitempty" yaml:"records"`
}
