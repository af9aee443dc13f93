package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var noReplayAudit = Variant{
	Name:  "no-replay-audit",
	Class: "replay not audited",
	Story: "A replay changes nothing, so nothing is written. When a customer asks why their second click was answered as it was, " +
		"there is no trace of it.",
	Seen:      "lakekeeper/lakekeeper#1995: retries answered from the record left nothing in the audit stream",
	Invariant: "replay-audited",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Auditor = businessOnlyAuditor{p.Auditor}
		return p
	},
}

// businessOnlyAuditor writes down what changed something.
type businessOnlyAuditor struct{ idempotency.Auditor }

// ReplaySQL implements idempotency.Auditor.
func (businessOnlyAuditor) ReplaySQL() string { return "" }
