package check

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// judged are the invariants that a service's contract leaves to the checks.
func judged(s contract.Service) (out []string) {
	unstated := s.Contract().Unstated
	for _, id := range slices.Sorted(maps.Keys(unstated)) {
		if !Known(id) {
			out = append(out, "no invariant: "+id)
		}
	}
	for _, id := range IDs() {
		if unstated[id] == "" {
			out = append(out, id)
		}
	}
	return out
}

func TestOfAServiceOnlyWhatItStatesIsJudged(t *testing.T) {
	for _, c := range []struct {
		name string
		of   contract.Service
		want []string
	}{
		{"nothing stated", contract.Service{}, []string{"at-most-once", "acked-durable"}},
		{"everything stated", contract.Service{Mismatch: []int{422}, InFlight: []int{409}, Recovers: true}, []string{"at-most-once", "acked-durable", "mismatch-rejected", "recovers"}},
		{"mismatch means two things", contract.Service{Mismatch: []int{409}, InFlight: []int{409}}, []string{"at-most-once", "acked-durable"}},
	} {
		if diff := cmp.Diff(c.want, judged(c.of)); diff != "" {
			t.Errorf("%s (- want, + got):\n%s", c.name, diff)
		}
	}
}

// service is the history of one key of a service: its operations by what they ask for, an answer each, and how many rows came of them.
func service(of contract.Service, asked []string, statuses []int, rows int) Input {
	of.Method, of.Path = "POST", "/orders"
	in := Input{Contract: of.Contract(), Limits: Limits{CrossKeys: -1}}
	var ops []history.Operation
	var events []history.Event
	for i, request := range asked {
		id := int64(i + 1)
		ops = append(ops, history.Operation{ID: id, Route: contract.ServiceRoute, User: 1, Method: of.Method, Path: of.Path, Keys: []string{"k"}, Key: "k", Request: request})
		events = append(events, history.Event{Attempt: &history.Attempt{Op: id, N: 1, SentNS: id, DoneNS: id + 10, Outcome: history.Returned, Status: statuses[i]}})
	}
	in.Operations, in.Events = sequence(ops, nil), sequence(events, nil)
	in.Evidence.Orders = []evidence.Order{}
	for range rows {
		id := number(len(in.Evidence.Orders) + 1)
		in.Evidence.Orders = append(in.Evidence.Orders, evidence.Order{ID: id, Execution: id, User: 1, Endpoint: "POST /orders", Key: "k"})
	}
	return in
}

func TestALegalServiceIsNotAccused(t *testing.T) {
	same, other := []string{"a", "a"}, []string{"a", "b"}
	stated := contract.Service{InFlight: []int{409, 425}, Mismatch: []int{400, 422}}
	for _, c := range []struct {
		name     string
		of       contract.Service
		asked    []string
		statuses []int
		rows     int
	}{
		{"waits, and replays", contract.Service{}, same, []int{201, 201}, 1},
		{"replays with another status", contract.Service{Executed: []int{201}, Replayed: []int{200}}, same, []int{201, 200}, 1},
		{"409 in flight, not stated", contract.Service{}, same, []int{201, 409}, 1},
		{"425 in flight", stated, same, []int{201, 425}, 1},
		{"400 for another body", stated, other, []int{201, 400}, 1},
		{"422 for another body, not stated", contract.Service{}, other, []int{201, 422}, 1},
		{"ignores another body", contract.Service{}, other, []int{201, 201}, 1},
		{"repeats its error", contract.Service{}, same, []int{500, 500}, 0},
		{"says that it failed after it acted", contract.Service{}, same, []int{503, 409}, 1},
		{"redirects", contract.Service{}, same, []int{303, 303}, 1},
	} {
		for _, f := range Judge(service(c.of, c.asked, c.statuses, c.rows)).Findings {
			if f.Status == verdict.Violated {
				t.Errorf("%s: %s: %s", c.name, f.Invariant, f.Violations[0].Sentence)
			}
		}
	}
}

func TestABrokenServiceIsConvicted(t *testing.T) {
	stated := contract.Service{Mismatch: []int{422}}
	for _, c := range []struct {
		invariant string
		of        contract.Service
		asked     []string
		statuses  []int
		rows      int
	}{
		{"at-most-once", contract.Service{}, []string{"a", "a"}, []int{201, 201}, 2},
		{"at-most-once", contract.Service{}, []string{"a", "b"}, []int{201, 500}, 2},
		{"acked-durable", contract.Service{}, []string{"a", "a"}, []int{200, 409}, 0},
		{"mismatch-rejected", stated, []string{"a", "b"}, []int{201, 201}, 1},
	} {
		if f := findingOf(Judge(service(c.of, c.asked, c.statuses, c.rows)), c.invariant); f.Status != verdict.Violated {
			t.Errorf("%s by %v with %d rows: %v %s", c.invariant, c.statuses, c.rows, f.Status, f.Why)
		}
	}
}

// Evidence that is not there leaves an invariant unjudged; it never passes.
func TestAServiceWithoutEvidenceIsNotJudged(t *testing.T) {
	in := service(contract.Service{}, []string{"a"}, []int{201}, 0)
	in.Evidence.Orders = nil
	for _, f := range Judge(in).Findings {
		if f.Status != verdict.NotJudged || f.Why == "" {
			t.Errorf("%s: %v, %q", f.Invariant, f.Status, f.Why)
		}
	}
}
