// Package idempotency is net/http middleware that makes a write endpoint execute at most once for each
// Idempotency-Key, on PostgreSQL. It is independent of the order server that this project bundles: any Go service
// with a pgx pool can import it, under any router.
//
// A request with a key claims it by one autocommitted insert. The winner runs the route's Action inside one business
// transaction, in which the audit row and the record's completion commit too; everybody else is answered from the
// record. The completion is fenced by the record's id and locked_at, so that a worker which outlived its claim commits
// nothing. Section numbers in comments refer to the idempotency contract.
//
// The middleware is cut into Parts, each an interface with one reference implementation, so that a claim strategy is
// one Claimer, and a broken variant is the reference with one part replaced:
//
//	Gate       answers in place of a closed route, before anything else
//	Matcher    reads the key, and says by a hash what counts as the same request
//	Scoper     says within which user and endpoint a key means one thing
//	Claimer    claims, reads the record for the losers, retires what is stale
//	Executor   runs action, audit and completion in one transaction
//	Completer  writes the end of a claim, completed or failed, under the fence
//	Outage     decides what happens when the store cannot answer
//	Replayer   turns a completed record into an answer
//	Auditor    writes the business audit row and the replay's
//	Forwarder  hands the key on to services that the action calls
//	Sweeper, Eraser  retention and erasure
//
// Times are the database's, never the process's. All waits are bounded by Options.RequestDeadline. A client that hangs
// up does not cancel a request whose body has been read.
package idempotency
