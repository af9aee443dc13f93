package zoo

import (
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var providerWithoutKey = Variant{
	Name:  "provider-without-key",
	Class: "key not forwarded",
	Story: "The own records are guarded with care, and the provider is called without the key. A charge whose request outlived its " +
		"claim, or whose answer was lost, is made again by whoever takes over.",
	Seen: "akash-network/console#3449: each delivery made a payment of its own without a key; customers were charged " +
		"two or three times",
	Invariant: "at-most-once",
	Scenario:  "provider-outage",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Forwarder = keylessForwarder{p.Forwarder}
		return p
	},
}

// keylessForwarder keeps the key to itself.
type keylessForwarder struct{ idempotency.Forwarder }

// Forward implements idempotency.Forwarder.
func (f keylessForwarder) Forward(h http.Header, req *idempotency.Request) {
	f.Forwarder.Forward(h, req)
	h.Del(idempotency.KeyHeader)
}
