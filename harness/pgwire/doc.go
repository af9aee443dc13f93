// Package pgwire is the proxy between a server under test and its PostgreSQL.
// It stands below drive and beside pgcluster in the walk: faults turn its path
// bad, and the explorer decides through it which statement runs when. It knows
// neither the server nor the contract; it speaks protocol version 3 alone.
//
// A Proxy has two levels. As a path it passes bytes and can refuse, hang,
// reset, slow, trickle or half-open that path (Link). Told to follow the
// protocol (Options.Controller, Options.Follow), it also knows each step: what a
// client sends up to and including Sync, or one simple Query. A Controller sees
// every step before the database does, may hold it, and says what becomes of
// it (Action); it is told how the step ended before the client can know.
//
// A followed step reaches the database in one go, once its last message has
// arrived; else the proxy changes nothing that it is not told to.
//
// Conventions: "up" is client to database and "down" the reverse. A cut or a
// refusal reaches the client as a TCP reset. The database's side of a cut is
// closed in order, so that a backend sees what it sees when a client dies.
package pgwire
