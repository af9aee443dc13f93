package idempotency

import (
	"net/http"
	"testing"
)

func TestReplayAddsTheMarkerAndKeepsTheRest(t *testing.T) {
	for body, want := range map[string]string{
		`{"n": 9007199254740993, "f": 1.0}`: `{"idempotency_replayed": true, "n": 9007199254740993, "f": 1.0}`,
		`{}`:                                `{"idempotency_replayed": true}`,
		``:                                  `{"idempotency_replayed": true}`,
		`[1]`:                               `[1]`,
	} {
		resp := StoredReplayer{}.Replay(nil, &Record{Code: 207, Body: []byte(body)})
		if resp.Status != 207 || string(resp.Body) != want || resp.Header.Get(ReplayedHeader) != "true" {
			t.Errorf("replay of %s: %+v %s", body, resp, resp.Body)
		}
	}
}

func TestAnswersThatMayNotBeStoredAreWithheld(t *testing.T) {
	for body, stored := range map[string]bool{
		`{"order_id":1,"cash_balance":"1.00"}`: true,
		`{"access_token":"x"}`:                 false,
		`{"user":{"Password":"x"}}`:            false,
		`{"apiKey":"x"}`:                       false,
		`{"header":"Bearer abc"}`:              false,
		`{"client_secret":"x"}`:                false,
		`{"text":"a\u0000b"}`:                  false,
		``:                                     false,
	} {
		req := &Request{Route: &Route{}}
		if got := StoredBody(req, &Response{Body: []byte(body)}) != nil; got != stored {
			t.Errorf("%s stored: %v", body, got)
		}
		if StoredBody(&Request{Route: &Route{NoReplay: true}}, &Response{Body: []byte(body)}) != nil {
			t.Errorf("%s stored on a route whose answers are not", body)
		}
	}
}

func TestTierDecidesAboutAnOutage(t *testing.T) {
	for tier, want := range map[Tier]Decision{FailClosed: Refuse, FailOpen: Proceed, ServiceOnly: Proceed} {
		if got := (TierPolicy{}).Decide(&Request{Route: &Route{Tier: tier}}, StoreOutage{}); got != want {
			t.Errorf("tier %d: %d, want %d", tier, got, want)
		}
	}
}

func TestOperationIDHasAForm(t *testing.T) {
	for id, kept := range map[string]bool{"a.B_9:-": true, "": false, "a b": false, string(make([]byte, 65)): false, "é": false} {
		r := &http.Request{Header: http.Header{OperationHeader: {id}}}
		if got := newRequest(nil, r, nil).OperationID == id && id != ""; got != kept {
			t.Errorf("operation id %q kept: %v", id, got)
		}
	}
}
