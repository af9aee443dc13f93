package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var markerMissing = Variant{
	Name:  "marker-missing",
	Class: "replay not marked",
	Story: "The stored answer is given again to the last byte, which is what a replay was said to be. The client cannot tell it " +
		"from a second order.",
	Seen:      "KeeperHub/keeperhub#1849: a replayed answer equals a fresh one byte for byte, and a client took it for one",
	Invariant: "legal-transitions",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Replayer = silentReplayer{}
		return p
	},
}

// silentReplayer says nothing of the replay.
type silentReplayer struct{}

// Replay implements idempotency.Replayer.
func (silentReplayer) Replay(_ *idempotency.Request, rec *idempotency.Record) idempotency.Response {
	return idempotency.Response{Status: rec.Code, Body: rec.Body}
}
