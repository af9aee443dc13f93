package fault

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/subject"
)

// replicaKill is a crash: nothing is flushed, nobody is told.
var replicaKill = Kind{
	Name:  "replica-kill",
	Story: "a server process is killed (SIGKILL) with its requests, and started again when the fault ends",
	Sees:  "connections reset and refused; 409 in-flight, then stale, for keys whose server died",
	Holds: "an order is whole or absent; abandoned claims are retired after the threshold and the keys end",
	On:    anyReplica,
	Strike: onReplicas(
		func(_ context.Context, r *subject.Replica) error { return r.Process().Kill() },
		startAgain,
	),
}
