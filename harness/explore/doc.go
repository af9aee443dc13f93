// Package explore runs a server through every order of its statements, and through a failure at every one of them, instead of
// waiting for luck.
//
// It is another planner of the same walk: requests, proxy, history, evidence and checks are those of a storm; only when each
// statement reaches the database is decided here. A few actors (identical requests, a request against a cleanup, …) are let
// loose on a Stage. The wire proxy holds each of their statements, a step, and the explorer releases one at a time, waits
// until all actors stand still, and chooses again. A schedule is the list of these choices; it begins with a fresh key and
// ends when every actor has its answer, and then the rows are judged.
//
// The search is stateless: a schedule is replayed from its beginning to reach its last choice. That works only for a server
// whose next statement follows from the answers it got; one that does otherwise is caught when a replayed prefix does not fit,
// and reported.
//
// What "every interleaving" means, and does not: all orders of the statements at the wire, as far as locks allow them. Inside
// one statement the order is PostgreSQL's own; a simple-protocol message with several statements is one step; time does not
// pass; and what actors tell one another other than through the database is not seen. What of this weakened a result is
// listed in it (Result.Open).
package explore
