package idempotency

import "time"

// Clock is a server's own clock. It may be wrong by hours, and differ from that of the next server, so nothing that two servers must agree
// about goes by it: how old a claim is and when a record expires, the database's clock says (contract section 2).
type Clock interface {
	Now() time.Time
}

// SystemClock is the machine's.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }
