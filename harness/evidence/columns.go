package evidence

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var accountTable = table[Account]{query: "accounts", columns: []column[Account]{
	required(whole("user", func(a *Account) *int64 { return &a.User })),
	required(whole("cash_cents", func(a *Account) *int64 { return &a.CashCents })),
}}

// holding is one row of the positions query.
type holding struct {
	user     int64
	symbol   string
	quantity int64
}

var positionTable = table[holding]{query: "positions", columns: []column[holding]{
	required(whole("user", func(h *holding) *int64 { return &h.user })),
	required(text("symbol", func(h *holding) *string { return &h.symbol })),
	required(whole("quantity", func(h *holding) *int64 { return &h.quantity })),
}}

var orderTable = table[Order]{query: "orders", columns: []column[Order]{
	required(text("id", func(o *Order) *string { return &o.ID })),
	text("execution", func(o *Order) *string { return &o.Execution }),
	whole("leg", func(o *Order) *int { return &o.Leg }),
	required(whole("user", func(o *Order) *int64 { return &o.User })),
	required(text("endpoint", func(o *Order) *string { return &o.Endpoint })),
	required(text("key", func(o *Order) *string { return &o.Key })),
	trace("operation", func(o *Order) *int64 { return &o.Operation }),
	text("symbol", func(o *Order) *string { return &o.Symbol }),
	text("side", func(o *Order) *string { return &o.Side }),
	whole("quantity", func(o *Order) *int64 { return &o.Quantity }),
	whole("amount_cents", func(o *Order) *int64 { return &o.AmountCents }),
	text("status", func(o *Order) *string { return &o.Status }),
	moment("at", func(o *Order) *string { return &o.At }),
}}

var (
	auditTable  = table[Audit]{query: "audits", columns: auditColumns}
	replayTable = table[Audit]{query: "replays", columns: auditColumns}
)

var auditColumns = []column[Audit]{
	required(text("id", func(a *Audit) *string { return &a.ID })),
	text("execution", func(a *Audit) *string { return &a.Execution }),
	required(whole("user", func(a *Audit) *int64 { return &a.User })),
	required(text("endpoint", func(a *Audit) *string { return &a.Endpoint })),
	required(text("key", func(a *Audit) *string { return &a.Key })),
	trace("operation", func(a *Audit) *int64 { return &a.Operation }),
	text("action", func(a *Audit) *string { return &a.Action }),
	text("hash", func(a *Audit) *string { return &a.Hash }),
	whole("code", func(a *Audit) *int { return &a.Code }),
	moment("at", func(a *Audit) *string { return &a.At }),
}

var recordTable = table[Record]{query: "records", columns: []column[Record]{
	required(text("id", func(r *Record) *string { return &r.ID })),
	required(text("key", func(r *Record) *string { return &r.Key })),
	required(whole("user", func(r *Record) *int64 { return &r.User })),
	required(text("endpoint", func(r *Record) *string { return &r.Endpoint })),
	text("hash", func(r *Record) *string { return &r.Hash }),
	required(text("status", func(r *Record) *string { return &r.Status })),
	whole("code", func(r *Record) *int { return &r.Code }),
	text("body", func(r *Record) *string { return &r.Body }),
	whole("created_us", func(r *Record) *int64 { return &r.CreatedUS }),
	whole("locked_us", func(r *Record) *int64 { return &r.LockedUS }),
	whole("expires_us", func(r *Record) *int64 { return &r.ExpiresUS }),
}}

func required[T any](c column[T]) column[T] {
	c.required = true
	return c
}

func text[T any](name string, field func(*T) *string) column[T] {
	return column[T]{name: name, set: func(row *T, s string) error {
		*field(row) = s
		return nil
	}}
}

// whole reads a whole number in whatever type the subject keeps it: 12, '12' and 12.00 are the same, 12.5 is an error.
func whole[T any, N int | int64](name string, field func(*T) *N) column[T] {
	return column[T]{name: name, set: func(row *T, s string) error {
		n, err := parseWhole(s)
		*field(row) = N(n)
		return err
	}}
}

// trace reads the operation's id. A subject may keep other callers' trace ids in the same column; those are no operation.
func trace[T any](name string, field func(*T) *int64) column[T] {
	return column[T]{name: name, set: func(row *T, s string) error {
		if n, err := parseWhole(s); err == nil {
			*field(row) = n
		}
		return nil
	}}
}

// moment keeps a time as RFC 3339 in UTC; a text that is no PostgreSQL timestamp is kept as it is.
func moment[T any](name string, field func(*T) *string) column[T] {
	return column[T]{name: name, set: func(row *T, s string) error {
		*field(row) = s
		if at, err := time.Parse("2006-01-02 15:04:05.999999Z07", s); err == nil {
			*field(row) = at.UTC().Format(time.RFC3339Nano)
		}
		return nil
	}}
}

func parseWhole(s string) (int64, error) {
	digits, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
	if strings.Trim(fraction, "0") != "" {
		return 0, fmt.Errorf("%q is not a whole number (cents and units are expected)", s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}
