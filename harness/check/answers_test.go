package check

import (
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// heard is one answer in a situation: who asked for what, and what came back.
type heard struct {
	spelling string
	request  string
	user     int64
	status   int
	marked   bool
	body     string
	forMS    int64
}

// situation is the history of one key of somebody else's endpoint.
func situation(t *testing.T, profile string, rows int, list ...heard) Input {
	t.Helper()
	p, known := contract.FindProfile(profile)
	if !known {
		t.Fatalf("no profile %s", profile)
	}
	in := Input{Contract: contract.Promised{Method: "POST", Path: "/orders", Profile: p}.Contract(), Limits: Limits{CrossKeys: -1}}
	for _, s := range contract.Situations {
		in.Claimed = append(in.Claimed, s.Invariant())
	}
	var ops []history.Operation
	var events []history.Event
	for i, h := range list {
		id := int64(i + 1)
		ops = append(ops, history.Operation{
			ID: id, Route: contract.ServiceRoute, User: max(1, h.user), Method: "POST", Path: "/orders", Keys: []string{"k"}, Key: "k",
			Request: "r" + h.request, Spelling: h.spelling, Once: true,
		})
		events = append(events, history.Event{Attempt: &history.Attempt{
			Op: id, N: 1, SentNS: id, DoneNS: id + max(1, h.forMS)*ms, Outcome: history.Returned, Status: h.status, Marked: h.marked, Body: []byte(h.body),
		}})
	}
	in.Operations, in.Events = sequence(ops, nil), sequence(events, nil)
	in.Evidence.Orders = []evidence.Order{}
	for range rows {
		id := number(len(in.Evidence.Orders) + 1)
		in.Evidence.Orders = append(in.Evidence.Orders, evidence.Order{ID: id, Execution: id, User: 1, Endpoint: "POST /orders", Key: "k"})
	}
	return in
}

const created = `{"id":1}`

func begins(s contract.Situation) heard {
	return heard{spelling: s.First(), status: 201, body: created}
}

func probed(s contract.Situation, status int, body string) heard {
	return heard{spelling: s.Probe(), status: status, body: body}
}

func marked(h heard) heard {
	h.marked = true
	return h
}

func during(h heard, forMS int64) heard {
	h.forMS = forMS
	return h
}

func ofOther(h heard) heard {
	h.request = "other"
	return h
}

func TestAnAnswerIsJudgedByTheRowOfItsSituation(t *testing.T) {
	const code = `{"error":"idempotency_key_body_mismatch"}`
	flight, other := contract.SameInFlight, contract.OtherInFlight
	for _, c := range []struct {
		name, profile string
		situation     contract.Situation
		heard         []heard
		want          verdict.Status
		why           string
	}{
		{"a marked replay", "stripe", contract.Repeated, []heard{begins(contract.Repeated), marked(probed(contract.Repeated, 201, created))}, verdict.Held, ""},
		{"a replay without its mark", "stripe", contract.Repeated, []heard{begins(contract.Repeated), probed(contract.Repeated, 201, created)}, verdict.Violated, ""},
		{"a replay that needs no mark", "ietf", contract.Repeated, []heard{begins(contract.Repeated), probed(contract.Repeated, 201, created)}, verdict.Held, ""},
		{"a replay that says something else", "ietf", contract.Repeated, []heard{begins(contract.Repeated), probed(contract.Repeated, 201, `{"id":2}`)}, verdict.Violated, ""},
		{"a first request that was refused", "ietf", contract.Repeated, []heard{{spelling: contract.Repeated.First(), status: 400}, probed(contract.Repeated, 400, "")}, verdict.Inconclusive, "see to that field"},
		{"another body refused by its code", "adr0138", contract.OtherRequest, []heard{begins(contract.OtherRequest), ofOther(probed(contract.OtherRequest, 422, code))}, verdict.Held, ""},
		{"another body refused by another code", "adr0138", contract.OtherRequest, []heard{begins(contract.OtherRequest), ofOther(probed(contract.OtherRequest, 422, `{"error":"invalid"}`))}, verdict.Violated, ""},
		{"out of service", "adr0138", contract.OtherRequest, []heard{begins(contract.OtherRequest), ofOther(probed(contract.OtherRequest, 503, ""))}, verdict.Inconclusive, "out of service"},
		{"met in flight", "ietf", flight, []heard{during(probed(flight, 201, created), 300), probed(flight, 409, "")}, verdict.Held, ""},
		{"waits where it must not", "ietf", flight, []heard{during(probed(flight, 201, created), 300), during(probed(flight, 201, created), 301)}, verdict.Violated, ""},
		{"too quick to be met", "ietf", flight, []heard{during(probed(flight, 201, created), 3), during(probed(flight, 201, created), 3)}, verdict.Inconclusive, "slow_body"},
		{"another body in flight", "ietf", other, []heard{during(probed(other, 201, created), 300), ofOther(probed(other, 409, ""))}, verdict.Held, ""},
		{"another body let in", "ietf", other, []heard{during(probed(other, 201, created), 300), ofOther(during(probed(other, 201, created), 301))}, verdict.Violated, ""},
		{"nothing was sent", "ietf", contract.KeyMissing, nil, verdict.Inconclusive, "nothing was there to judge"},
	} {
		f := findingOf(Judge(situation(t, c.profile, 1, c.heard...)), c.situation.Invariant())
		if f.Status != c.want || !strings.Contains(f.Why, c.why) {
			t.Errorf("%s: %v, %q, want %v, %q", c.name, f.Status, f.Why, c.want, c.why)
		}
	}
}

// Nobody knows which of two sources is wrong, so that nobody is accused; and nothing passes.
func TestSourcesThatDisagreeAreInconclusiveWithBothCounts(t *testing.T) {
	in := situation(t, "ietf", 1, begins(contract.Repeated))
	one := evidence.Execution{ID: "1", Owner: evidence.Owner("k", 1)}
	for _, c := range []struct {
		other []evidence.Execution
		want  verdict.Status
		why   string
	}{
		{[]evidence.Execution{one}, verdict.Held, ""},
		{[]evidence.Execution{one, one}, verdict.Inconclusive, "evidence.executions shows 1 executions, and evidence.provider shows 2"},
		{nil, verdict.Inconclusive, "evidence.provider shows 0"},
	} {
		in.Evidence.Sources = []evidence.Source{{Name: "executions", Executions: []evidence.Execution{one}}, {Name: "provider", Executions: c.other}}
		f := findingOf(Judge(in), "evidence-agrees")
		if f.Status != c.want || !strings.Contains(f.Why, c.why) {
			t.Errorf("%v, %q, want %v, %q", f.Status, f.Why, c.want, c.why)
		}
	}
}

func TestWithoutAMarkerEverySuccessOfAKeyMustBeTheSame(t *testing.T) {
	for body, want := range map[string]verdict.Status{created: verdict.Held, `{"id": 1.0}`: verdict.Held, `{"id":2}`: verdict.Violated} {
		in := situation(t, "ietf", 1, heard{status: 201, body: created}, heard{status: 201, body: body})
		if f := findingOf(Judge(in), "replay-fidelity"); f.Status != want {
			t.Errorf("%s: %v, want %v", body, f.Status, want)
		}
	}
}

// What a scenario claims of somebody else's server and its contract does not state is not judged, with what to add; it makes nothing inconclusive.
func TestWhatAContractDoesNotStateIsNotJudgedWhateverIsClaimed(t *testing.T) {
	in := situation(t, "ietf", 1, heard{status: 201, body: created})
	in.Contract.Unstated["recovers"] = "recovers_within is missing"
	in.Claimed = []string{"recovers", "at-most-once"}
	v := Judge(in)
	if f := findingOf(v, "recovers"); f.Status != verdict.NotJudged || f.Why != "recovers_within is missing" {
		t.Errorf("%v, %q", f.Status, f.Why)
	}
	if exit := v.Exit(); exit != verdict.ExitHeld {
		t.Errorf("exit %d", exit)
	}
}
