package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var pathNotHashed = Variant{
	Name:  "path-not-hashed",
	Class: "path parameters in neither scope nor hash",
	Story: "The scope has the route's pattern and the hash has the body. Which position is to be closed stands in the path, so in " +
		"neither: the key of one closing, sent for another position, gets the answer that it is closed.",
	Seen: "Universal-Commerce-Protocol/samples#166: the hash covered the body alone; a key reused on another checkout " +
		"got the first one's answer",
	Invariant: "mismatch-rejected",
	Scenario:  "scope",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Matcher = patternMatcher{p.Matcher}
		return p
	},
}

// patternMatcher hashes the route's pattern in place of the path.
type patternMatcher struct{ idempotency.Matcher }

// Hash implements idempotency.Matcher.
func (m patternMatcher) Hash(req *idempotency.Request) string {
	url, sent, routed := *req.HTTP.URL, *req.HTTP, *req
	url.Path, url.RawPath = req.Route.Endpoint, ""
	sent.URL, routed.HTTP = &url, &sent
	return m.Matcher.Hash(&routed)
}
