package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
)

// template makes requests for one route of the contract.
type template struct {
	route    string
	position bool // the path names a position, and executing uses it up
	body     func(r *rand.Rand) string
}

// templates are the routes that a mix may name.
var templates = []template{
	{route: "order", body: orderBody},
	{route: "close", position: true, body: func(*rand.Rand) string { return "{}" }},
	{route: "roll", position: true, body: func(r *rand.Rand) string { return fmt.Sprintf(`{"symbol":%q}`, symbol(r)) }},
	{route: "checkout", body: func(r *rand.Rand) string {
		return fmt.Sprintf(`{"plan":"pro","amount_cents":%d}`, 1000+r.IntN(9000))
	}},
	{route: "account", body: func(r *rand.Rand) string { return fmt.Sprintf(`{"name":"Trader %d"}`, r.IntN(1e6)) }},
	{route: contract.ServiceRoute}, // its bodies are Requests'
	{route: "waitlist", body: func(r *rand.Rand) string { return fmt.Sprintf(`{"email":"w%d@example.org"}`, r.Uint32()) }},
}

// refusedQuantity is more than any fixture's cash pays for.
const refusedQuantity = 1_000_000_000

var symbols = []string{"AAPL", "MSFT", "NVDA", "AMZN", "GOOG", "META", "TSLA", "AMD"}

func symbol(r *rand.Rand) string { return symbols[r.IntN(len(symbols))] }

func orderBody(r *rand.Rand) string { return orderOf(symbol(r), 1+r.IntN(5)) }

func orderOf(symbol string, quantity int) string {
	return fmt.Sprintf(`{"symbol":%q,"side":"buy","quantity":%d,"type":"market"}`, symbol, quantity)
}

func findTemplate(route string) (template, bool) {
	for _, t := range templates {
		if t.route == route {
			return t, true
		}
	}
	return template{}, false
}

func templateNames() (names []string) {
	for _, t := range templates {
		names = append(names, t.route)
	}
	return names
}

// fillPath puts value into the pattern's {placeholders}.
func fillPath(r contract.Route, value string) string {
	path := r.Pattern
	for {
		from := strings.IndexByte(path, '{')
		to := strings.IndexByte(path, '}')
		if from < 0 || to < from {
			return path
		}
		path = path[:from] + value + path[to+1:]
	}
}
