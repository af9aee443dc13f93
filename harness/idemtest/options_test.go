package idemtest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/idemtest"
)

// Whoever mistypes an option is told in one line which one it is, by its name in Go, and what to write.
func TestAnOptionThatCannotBeMeantIsRefusedInOneLine(t *testing.T) {
	service := &counting{charges: map[string]int{}}
	counted := []idemtest.Evidence{idemtest.Count(service.count)}
	for _, c := range []struct {
		name     string
		server   idemtest.Server
		change   func(*idemtest.Endpoint)
		evidence []idemtest.Evidence
		want     string
	}{
		{name: "no evidence", evidence: []idemtest.Evidence{}, want: "evidence: none is given"},
		{name: "nil handler", server: idemtest.Handler(nil), want: "Handler: handler 1 is nil"},
		{name: "no URL", server: idemtest.URL("127.0.0.1:80"), want: `URL [0]: "127.0.0.1:80" is no base URL`},
		{name: "nobody there", server: idemtest.URL("http://127.0.0.1:1"), want: "http://127.0.0.1:1 does not answer"},
		{name: "another machine", server: idemtest.URL("http://192.0.2.1"), want: "URL: 192.0.2.1 is not this machine"},
		{name: "path", change: func(e *idemtest.Endpoint) { e.Path = "charges" }, want: `Endpoint.Path: "charges" does not begin with a slash`},
		{name: "method", change: func(e *idemtest.Endpoint) { e.Method = "GET" }, want: `Endpoint.Method: "GET" changes nothing`},
		{name: "field", change: func(e *idemtest.Endpoint) { e.Body = "{{uniq}}" }, want: "Endpoint.Body: there is no field {{uniq}}"},
		{name: "same body", change: func(e *idemtest.Endpoint) { e.OtherBody = e.Body }, want: "Endpoint.OtherBody: it is the body of the request"},
		{name: "header", change: func(e *idemtest.Endpoint) { e.Headers = map[string]string{"a b": "c"} }, want: "Endpoint.Headers"},
		{name: "user", change: func(e *idemtest.Endpoint) { e.Users = []map[string]string{{}} }, want: "Endpoint.Users[0].headers: missing"},
		{name: "key", change: func(e *idemtest.Endpoint) { e.Key.Format = "uuid9" }, want: "Endpoint.Key.Format: "},
		{name: "profile", change: func(e *idemtest.Endpoint) { e.Contract.Profile = "rfc" }, want: `Endpoint.Contract.Profile: "rfc" is unknown`},
		{name: "row", change: func(e *idemtest.Endpoint) {
			e.Contract = idemtest.Contract{Profile: "ietf", InFlight: idemtest.Row{Does: "wait"}}
		}, want: `Endpoint.Contract.InFlight.does: "wait" is not possible here`},
		{name: "recovery", change: func(e *idemtest.Endpoint) { e.RecoversWithin = -time.Second }, want: "Endpoint.RecoversWithin: "},
		{name: "scenario", change: func(e *idemtest.Endpoint) { e.Scenarios = []string{"crash"} }, want: `Endpoint.Scenarios: "crash" is unknown`},
		{name: "no means", change: func(e *idemtest.Endpoint) { e.Scenarios = []string{"mismatch"} }, want: "scenario mismatch: "},
		{name: "keys", change: func(e *idemtest.Endpoint) { e.Keys = -1 }, want: "Endpoint.Clients, Endpoint.Keys: "},
		{name: "query without a key", evidence: []idemtest.Evidence{idemtest.Database(idemtest.Postgres(t), "SELECT 1 AS n")}, want: "has the columns n; name one of them key"},
		{name: "query", evidence: []idemtest.Evidence{idemtest.Database(idemtest.Postgres(t), "SELEC")}, want: `"SELEC" is refused by the database`},
		{name: "refused", server: idemtest.Handler(http.NotFoundHandler()), want: "Endpoint.Path: the service knows no such endpoint: 404"},
		{name: "evidence elsewhere", evidence: []idemtest.Evidence{idemtest.Count((&counting{}).count)}, want: "evidence Count: shows nothing for a request that was answered with success"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := idemtest.Endpoint{Path: "/charges", Body: "{}", Scenarios: []string{"race"}, Keys: 4}
			if c.change != nil {
				c.change(&e)
			}
			server, evidence := idemtest.Handler(service), counted
			if c.name == "no URL" || c.name == "nobody there" || c.name == "another machine" || c.name == "nil handler" || c.name == "refused" {
				server = c.server
			}
			if c.evidence != nil {
				evidence = c.evidence
			}
			r := record(t, func(t testing.TB) { idemtest.Run(t, server, e, evidence...) })
			if said := strings.TrimSpace(r.said.String()); !r.fatal || strings.Contains(said, "\n") || !strings.Contains(said, c.want) {
				t.Errorf("got  %s\nwant %s", said, c.want)
			}
		})
	}
}
