package zoo

import (
	"bytes"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var completionByOneWriter = Variant{
	Name:  "completion-by-one-writer",
	Class: "completion hooked to one writer",
	Story: "The completion hangs on the function that writes an order's answer. The roll has two legs and a function of its own " +
		"to write them, which nobody hooked: it is done, and its record stays in flight.",
	Seen: "KanishJebaMathewM/Truxify#4622: completion sits in a patched res.json, so that streams, files and errors " +
		"leave the key locked",
	Invariant: "legal-transitions",
	Scenario:  "duplicate-key-race",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Completer = hookedCompleter{p.Completer}
		return p
	},
}

// hookedCompleter completes what its one writer writes.
type hookedCompleter struct{ idempotency.Completer }

// Complete implements idempotency.Completer.
func (c hookedCompleter) Complete(b *pgx.Batch, claim *idempotency.Claim, req *idempotency.Request, resp *idempotency.Response) {
	if bytes.Contains(resp.Body, []byte(`"legs"`)) {
		return
	}
	c.Completer.Complete(b, claim, req, resp)
}
