package fault

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/subject"
)

// replicaPause makes zombies: workers that wake up and go on where they stood, whatever has happened since.
var replicaPause = Kind{
	Name:  "replica-pause",
	Story: "a server process stands still (SIGSTOP) and goes on where it stood when the fault ends (SIGCONT)",
	Sees:  "no answer from that server; 409 stale from the others, which then take over",
	Holds: "the worker that wakes up commits nothing under a claim that was retired",
	On:    anyReplica,
	Strike: onReplicas(
		func(_ context.Context, r *subject.Replica) error { return r.Process().Pause() },
		func(_ context.Context, r *subject.Replica) error { return r.Process().Resume() },
	),
}
