package pgwire

import "sync/atomic"

// Stats counts what a proxy did since it began to listen, so that a fault can
// prove that it bit. All but Active only grow.
type Stats struct {
	Accepted     int64 // connections taken in, refused ones included
	Active       int64 // connections open now
	Refused      int64 // new connections reset because of the link
	Reset        int64 // open connections reset by the link, Proxy.Reset or an action
	Unreachable  int64 // connections dropped because the database did not accept
	Cancels      int64 // CancelRequests forwarded
	BytesUp      int64 // client to database
	BytesDown    int64 // database to client
	Statements   int64 // Query, Execute and FunctionCall messages forwarded
	Shaped       int64 // chunks that were held, delayed or throttled
	Injected     int64 // errors answered without the database
	DroppedReply int64 // answers of the database withheld from the client
	Strayed      int64 // connections that could not be followed any more, and pass unread
}

type counters struct {
	accepted, active, refused, reset, unreachable, cancels atomic.Int64
	bytes                                                  [2]atomic.Int64
	statements, shaped, injected, droppedReply, strayed    atomic.Int64
}

func (c *counters) snapshot() Stats {
	return Stats{
		Accepted: c.accepted.Load(), Active: c.active.Load(), Refused: c.refused.Load(),
		Reset: c.reset.Load(), Unreachable: c.unreachable.Load(), Cancels: c.cancels.Load(),
		BytesUp: c.bytes[up].Load(), BytesDown: c.bytes[down].Load(),
		Statements: c.statements.Load(), Shaped: c.shaped.Load(),
		Injected: c.injected.Load(), DroppedReply: c.droppedReply.Load(), Strayed: c.strayed.Load(),
	}
}
