package zoo

import (
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var thresholdTooShort = Variant{
	Name:  "threshold-too-short",
	Class: "lock shorter than the work",
	Story: "The threshold was set by what a request usually takes. A slower one is declared dead while it works: its client's " +
		"retry is told that it has failed, and the work is thrown away at the fence, or done twice where there is none.",
	Seen:      "KanishJebaMathewM/Truxify#5846: an idempotency lock of 10 s guarded a handler that may take 60 s",
	Invariant: "legal-transitions",
	Scenario:  "retry-storm",
	Explore:   &Exploration{Case: "busy"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = hastyClaimer{&idempotency.InsertClaimer{Store: reference(p).Store, StaleAfter: usualTime}}
		return p
	},
}

// usualTime is what the handler took on the day it was measured.
const usualTime = 20 * time.Millisecond

// hastyClaimer has a threshold of its own.
type hastyClaimer struct{ *idempotency.InsertClaimer }
