package plan

import (
	"encoding/binary"
	"errors"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// Requests are what is known of somebody else's endpoint: how it is asked. They must be pure: the same key gives the same request.
type Requests interface {
	Key(b [16]byte) string       // a key, made of random bytes
	Line(key string) string      // how it is sent
	Malformed(key string) string // what is sent in its place and is no key; another for every key, if it can be
	Has(Kind) bool               // whether there is a body of that kind
	Ask(Kind, string) Asking     // the request of a kind under a key
}

// Kind is what a request to somebody else's endpoint asks for.
type Kind string

// The kinds.
const (
	Usual   Kind = "usual"   // what succeeds
	Other   Kind = "other"   // something else, which would succeed under a key of its own
	Refused Kind = "refused" // what is refused with 4xx
	Failing Kind = "failing" // what fails with 5xx
	Slow    Kind = "slow"    // what succeeds, and takes a while
)

// Asking is one request.
type Asking struct {
	Path  string
	Body  []byte
	Token string // planted in it; "" for none
}

var errForeignShape = errors.New("shape: its requests are of the bundled server; for a target there are race, again, storm, traffic, rivals and situations")

// foreign says whether the phase asks somebody else's endpoint.
func (b *builder) foreign() bool { return b.requests != nil }

// bytes are what a key is made of.
func (b *builder) bytes() (out [16]byte) {
	binary.BigEndian.PutUint64(out[:8], b.rnd.Uint64())
	binary.BigEndian.PutUint64(out[8:], b.rnd.Uint64())
	return out
}

// underKey is o under a key that nobody has used.
func (b *builder) underKey(o history.Operation, kind Kind) history.Operation {
	key := b.requests.Key(b.bytes())
	o.Keys, o.Key = []string{b.requests.Line(key)}, key
	return b.asking(o, kind, key)
}

// asking is o with the request of a kind. What it asks for is another request than the usual one's under the same key.
func (b *builder) asking(o history.Operation, kind Kind, key string) history.Operation {
	a := b.requests.Ask(kind, key)
	o.Path, o.Body, o.Token = a.Path, a.Body, a.Token
	if kind == Other {
		o.Request += "/other"
	}
	return o
}

// stray is a request whose key is missing or none; its token is its own.
func (b *builder) stray(lines ...string) history.Operation {
	o := b.ask(b.pick(false))
	o.Keys, o.Key, o.Once = lines, "", true
	return o
}

// kindOf is what a key that may have to be refused asks for.
func (b *builder) kindOf(refused bool) Kind {
	if refused && b.requests.Has(Refused) {
		return Refused
	}
	return Usual
}

// promised says whether a situation is promised, and can be brought about.
func (b *builder) promised(s contract.Situation) bool {
	_, unstated := b.contract.Unstated[s.Invariant()]
	return !unstated && len(b.contract.Promises) > 0
}
