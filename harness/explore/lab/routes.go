package lab

import (
	"fmt"
	"strings"

	"github.com/idemstorm/idemstorm/harness/explore"
)

// Route is a request that the bundled server can be asked for again and again.
type Route struct {
	Name    string // id of the contract's route
	charges bool   // it calls the payment provider
	request explore.Request
	other   explore.Request // another request under the same key
}

// Routes are the routes that can be explored.
var Routes = []Route{
	{
		Name:    "order",
		request: explore.Request{Method: "POST", Path: "/api/trading/orders", Meaning: "one", Body: `{"symbol":"ACME","side":"buy","quantity":1,"type":"market"}`},
		other:   explore.Request{Method: "POST", Path: "/api/trading/orders", Meaning: "seven", Body: `{"symbol":"ACME","side":"buy","quantity":7,"type":"market"}`},
	},
	{
		Name: "checkout", charges: true,
		request: explore.Request{Method: "POST", Path: "/api/billing/checkout", Meaning: "pro", Body: `{"plan":"pro","amount_cents":1900}`},
		other:   explore.Request{Method: "POST", Path: "/api/billing/checkout", Meaning: "team", Body: `{"plan":"team","amount_cents":4900}`},
	},
}

func findRoute(name string) (Route, error) {
	names := make([]string, 0, len(Routes))
	for _, r := range Routes {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	return Route{}, fmt.Errorf("no route %q to explore; there are: %s", name, strings.Join(names, ", "))
}

// as is the request that an attempt made.
func (r Route) as(a explore.Attempt) explore.Request {
	if a.Request == r.other.Meaning {
		return r.other
	}
	return r.request
}
