package reports

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Hand-made runs: every figure in them is fixed, so that every format can be compared with its golden file.

const sampleKey = "3f1c9a52-7b1e-4c58-9a0d-2f6f3f0f8b11"

// samples are the runs that every format is tried with.
func samples() map[string]verdict.Run {
	return map[string]verdict.Run{
		"clean":        cleanRun(),
		"violated":     violatedRun(),
		"outage":       outageRun(),
		"inconclusive": inconclusiveRun(),
		"interrupted":  interruptedRun(),
		"gate":         gateRun(),
		"nasty":        nastyRun(),
		"lossy":        lossyRun(12),
		"empty":        {},
	}
}

func ms(n float64) int64 { return int64(n * 1e6) }

func dms(n float64) time.Duration { return time.Duration(ms(n)) }

func cleanRun() verdict.Run {
	return verdict.Run{
		Schema: verdict.RunSchema, Tool: "idemstorm v0.1.0 (8cf53d1)", Scenario: "duplicate-key-race",
		Summary: "200 keys, 32 duplicates each fired at one instant, over two replicas.", Seed: 42,
		PlanDigest: "9d1f0c2ab34d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7",
		Reproduce:  "idemstorm run duplicate-key-race --seed 42 --replicas 2",
		Started:    time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC), Took: 8214 * time.Millisecond,
		Subject: "bundled server, 2 replicas, PostgreSQL 15.10",
		Facts: []verdict.Fact{
			{Name: "CPU", Value: "2 × example CPU at 2.6 GHz"},
			{Name: "kernel", Value: "Linux 6.1.0"},
			{Name: "PostgreSQL", Value: "15.10, fsync=off, synchronous_commit=on, shared_buffers=128MB"},
			{Name: "Go", Value: "go1.26 linux/amd64"},
		},
		Counts:   sampleCounts(),
		Latency:  sampleLatency(),
		Timeline: sampleTimeline(40, nil),
		Endpoints: []verdict.Endpoint{{
			Route: "order", Endpoint: "POST /api/trading/orders", Operations: 6400, Attempts: 7012,
			Ended: map[string]int64{"fresh": 200, "replay": 5800, "in-flight": 990, "lost": 22},
			P50:   latency.Quantile{Q: 0.5, Known: true, Value: dms(2.7), Low: dms(2.6), High: dms(2.9)},
			P99:   latency.Quantile{Q: 0.99, Known: true, Value: dms(14), Low: dms(12), High: dms(17)}, Max: dms(43),
		}},
		Verdict: verdict.Verdict{Scenario: "duplicate-key-race", Findings: sampleFindings()},
		Files:   []string{"run.json", "history.jsonl.gz", "evidence.json", "latency.hlog", "junit.xml", "summary.md", "server-1.log", "server-2.log"},
	}
}

func sampleCounts() verdict.Counts {
	return verdict.Counts{
		Operations: 6400, Attempts: 7012, Returned: 6990, Lost: 22, Keys: 200,
		Answers: map[string]int64{"fresh": 200, "replay": 5800, "in-flight": 990},
	}
}

func sampleFindings() []verdict.Finding {
	return []verdict.Finding{
		{Invariant: "at-most-once", Status: verdict.Held, Claimed: true, Looked: 200, Unit: "keys"},
		{Invariant: "order-audit-match", Status: verdict.Held, Claimed: true, Looked: 200, Unit: "orders"},
		{Invariant: "acked-durable", Status: verdict.Held, Claimed: true, Looked: 6000, Unit: "acknowledged answers"},
		{Invariant: "replay-fidelity", Status: verdict.Held, Claimed: true, Looked: 5800, Unit: "replays"},
		{Invariant: "legal-transitions", Status: verdict.Held, Claimed: true, Looked: 200, Unit: "keys"},
		{Invariant: "money-conserved", Status: verdict.Held, Claimed: true, Looked: 50, Unit: "accounts"},
		{Invariant: "fail-open", Status: verdict.NotJudged, Why: "no outage in this scenario"},
		{Invariant: "erasure", Status: verdict.NotJudged, Why: "nobody was erased"},
	}
}

func sampleLatency() []latency.Summary {
	return []latency.Summary{
		sampleSeries("order fresh", latency.Response, 6400, 3.1),
		sampleSeries("order fresh", latency.Service, 6400, 2.7),
		sampleSeries("order replay", latency.Response, 990, 1.2),
		sampleSeries("order replay", latency.Service, 990, 1.1),
		{Series: latency.Series{Group: "checkout fresh", Kind: latency.Response}, Count: 12, Min: dms(1), Mean: dms(2), Max: dms(4)},
	}
}

// sampleSeries has the shape of real latencies: flat, then a long tail. p99.9 is known from 3,688 samples on.
func sampleSeries(group string, kind latency.Kind, n int64, median float64) latency.Summary {
	value := func(q float64) time.Duration {
		return dms(median * (0.55 + 0.45*math.Pow(2, -math.Log2(1-q)*0.45-0.1)))
	}
	s := latency.Summary{
		Series: latency.Series{Group: group, Kind: kind}, Count: n,
		Min: value(0), Mean: dms(median * 1.3), Max: value(1 - 1/float64(n)),
	}
	for i, need := range []int64{10, 40, 368, 3688} {
		q := shownQuantiles[i]
		s.Quantiles = append(s.Quantiles, latency.Quantile{Q: q, Known: n >= need, Value: value(q), Low: value(q) * 9 / 10, High: value(q) * 12 / 10})
	}
	for x := 0.0; x <= math.Log10(float64(n))-0.5; x += 0.125 {
		q := 1 - math.Pow(10, -x)
		s.Curve = append(s.Curve, latency.Point{Q: q, Value: value(q)})
	}
	return s
}

func sampleTimeline(n int, out func(i int) bool) []verdict.Slot {
	slots := make([]verdict.Slot, n)
	for i := range slots {
		s := verdict.Slot{AtNS: int64(i) * ms(100), ForNS: ms(100), Ended: map[string]int64{
			"fresh": 20 + int64(i%3), "replay": 60 + int64(i*7%11), "in-flight": int64(i * 5 % 9),
		}, P50: dms(3 + float64(i%4)/3), Max: dms(14 + float64(i*13%29)), Late: dms(0.04 + float64(i%5)/50)}
		if out != nil && out(i) {
			s.Ended = map[string]int64{"store-down": 31, "lost": 12, "unsent": 2}
			s.P50, s.Max = dms(900), dms(2050)
		}
		slots[i] = s
	}
	return slots
}

func answered(op int64, n, replica int, sent, done float64, status int, body string) history.Attempt {
	return history.Attempt{
		Op: op, N: n, Replica: replica, IntendedNS: ms(sent - 0.05), SentNS: ms(sent), DoneNS: ms(done),
		Outcome: history.Returned, Status: status, Body: []byte(body),
	}
}

func lost(op int64, n, replica int, sent, done float64, cause string) history.Attempt {
	return history.Attempt{
		Op: op, N: n, Replica: replica, IntendedNS: ms(sent), SentNS: ms(sent), DoneNS: ms(done), Outcome: history.Lost, Cause: cause,
	}
}

func order(id int64, client int) history.Operation {
	return history.Operation{
		ID: id, Phase: "race", Client: client, Group: 7, Route: "order", User: 7, Method: "POST", Path: "/api/trading/orders",
		Keys: []string{sampleKey}, Key: sampleKey, Request: "order A",
	}
}

func violatedRun() verdict.Run {
	r := cleanRun()
	r.Variant = "select-then-insert"
	r.Subject = "bundled server, variant select-then-insert, 2 replicas, PostgreSQL 15.10"
	r.Reproduce = "idemstorm run duplicate-key-race --variant select-then-insert --seed 42 --replicas 2 --out /tmp/idemstorm-42"
	r.Cases = []verdict.Case{
		{Operation: order(17, 0), Attempts: []history.Attempt{answered(17, 1, 1, 1204.31, 1212.94, 201, `{"order_id":9041,"status":"filled"}`)}, Answers: []string{"fresh"}},
		{Operation: order(18, 1), Attempts: []history.Attempt{answered(18, 1, 2, 1204.33, 1213.4, 201, `{"order_id":9042,"status":"filled"}`)}, Answers: []string{"fresh"}},
		{Operation: order(19, 2), Attempts: []history.Attempt{
			lost(19, 1, 1, 1204.35, 1209.35, "gave_up"),
			answered(19, 2, 2, 1709.4, 1711.2, 201, `{"order_id":9041,"idempotency_replayed":true}`),
		}, Answers: []string{"", "replay"}},
	}
	v := verdict.Violation{
		Sentence: "Key " + sampleKey + " executed twice for user 7: orders 9041 and 9042 were both written.",
		Expected: "at most 1 execution of this key, user and endpoint", Seen: "2 orders, 2 business audit rows, 1 key record",
		Key: sampleKey, User: 7, Endpoint: "POST /api/trading/orders",
		Ops: []history.Ref{{Op: 17, N: 1}, {Op: 18, N: 1}, {Op: 19, N: 2}},
		Rows: []history.Row{
			{Table: "paper_orders", ID: "9041", Fields: map[string]string{"user_id": "7", "symbol": "SPY", "quantity": "3", "idem_key": sampleKey, "created_at": "2026-03-14T15:09:27.509Z"}},
			{Table: "paper_orders", ID: "9042", Fields: map[string]string{"user_id": "7", "symbol": "SPY", "quantity": "3", "idem_key": sampleKey, "created_at": "2026-03-14T15:09:27.510Z"}},
			{Table: "idempotency_keys", ID: "311", Fields: map[string]string{"status": "completed", "response_code": "201"}},
		},
	}
	second := v
	second.Key = "b7d1a8ce-0000-4000-8000-000000000002"
	second.Sentence = "Key " + second.Key + " executed twice for user 9."
	second.Ops, second.Rows = nil, nil
	r.Verdict.Findings[0] = verdict.Finding{
		Invariant: "at-most-once", Status: verdict.Violated, Claimed: true, Looked: 200, Unit: "keys", Count: 61, Violations: []verdict.Violation{v, second},
	}
	r.Verdict.Findings[5] = verdict.Finding{
		Invariant: "money-conserved", Status: verdict.Violated, Claimed: true, Looked: 50, Unit: "accounts", Count: 1,
		Violations: []verdict.Violation{{
			Sentence: "Account 7 holds 2,100.00 less than its orders that were acknowledged once account for.",
			Expected: "cash 997,900.00", Seen: "cash 995,800.00", User: 7,
			Rows: []history.Row{{Table: "accounts", ID: "7", Fields: map[string]string{"cash_balance": "995800.00"}}},
		}},
	}
	return r
}

func outageRun() verdict.Run {
	r := cleanRun()
	r.Scenario, r.Verdict.Scenario = "store-outage", "store-outage"
	r.Summary = "The path to the key store is cut, refuses, hangs and returns, during traffic on tier 1 and tier 2 routes."
	r.Reproduce = "idemstorm run store-outage --seed 7"
	r.Seed = 7
	r.Timeline = sampleTimeline(200, func(i int) bool { return i >= 60 && i < 90 })
	r.Faults = []history.Fault{
		{ID: 1, Name: "path-hang", On: "key store of every replica", Phase: history.FaultBegan, AtNS: ms(6000), Total: true},
		{ID: 1, Name: "path-hang", On: "key store of every replica", Phase: history.FaultHealing, AtNS: ms(9000), Bit: 41},
		{ID: 1, Name: "path-hang", On: "key store of every replica", Phase: history.FaultHealed, AtNS: ms(9003)},
		{ID: 2, Name: "path-cut", On: "key store of replica 1", Phase: history.FaultBegan, AtNS: ms(16000)},
	}
	r.Recovery = []verdict.Recovery{{Fault: 1, Name: "path-hang", Unsettled: 37, Longest: dms(2310)}}
	r.Windows = sampleWindows()
	r.Verdict.Findings[0].Faults = []verdict.FaultTally{{Fault: 1, Looked: 402}, {Fault: 2, Looked: 77}}
	r.Verdict.Findings[2].Faults = []verdict.FaultTally{{Fault: 1, Looked: 380}, {Fault: 2, Looked: 61, Count: 1, Missing: 1, Example: "Key " + sampleKey + " was acknowledged with 201, and behind it there is this: no order."}}
	o := order(310, 4)
	r.Cases = []verdict.Case{{Operation: o, Attempts: []history.Attempt{
		lost(310, 1, 1, 5990, 7990, "timeout"),
		{Op: 310, N: 2, Replica: 2, IntendedNS: ms(8100), SentNS: ms(8100.2), DoneNS: ms(8101), Outcome: history.Unsent, Cause: "refused"},
		answered(310, 3, 1, 8400, 8406, 201, `{"order_id":77}`),
		{Op: 310, N: 4, Replica: 1, IntendedNS: ms(20200), SentNS: ms(20200), DoneNS: ms(20203), Outcome: history.Returned, Status: 503, Settle: true},
	}, Answers: []string{"", "", "fresh", "store-down"}}}
	r.Verdict.Findings = append(r.Verdict.Findings, verdict.Finding{
		Invariant: "fail-closed", Status: verdict.Violated, Claimed: true, Looked: 412, Unit: "attempts in an outage", Count: 1,
		Violations: []verdict.Violation{{
			Sentence: "Attempt 3 of operation 310 got 201 while the key store was out: the route failed open.",
			Expected: "503 idempotency_store_unavailable, and nothing executed", Seen: "201 and order 77",
			Key: sampleKey, User: 7, Endpoint: "POST /api/trading/orders", Ops: []history.Ref{{Op: 310, N: 3}},
			Rows: []history.Row{{Table: "paper_orders", ID: "77", Fields: map[string]string{"user_id": "7"}}},
		}},
	})
	return r
}

func sampleWindows() []verdict.Window {
	none, one := int64(0), int64(1)
	return []verdict.Window{
		{
			Fault: 1, Kind: "path-hang", On: "key store of all replicas", FromNS: ms(5999), UntilNS: ms(9003), Bit: 41, Attempts: 1203,
			Answers: verdict.WindowAnswers{OK: 11, Conflict: 4, Unavailable: 930, Failed: 201, Other: 2, None: 55}, Keys: 402, Shared: 3,
			Unsettled: 37, Longest: dms(2310), Back: dms(640), Twice: &none, Lost: &none, Stuck: &none,
		},
		{
			Fault: 2, Kind: "path-cut", On: "key store of replica 1", FromNS: ms(15990), Attempts: 120, Answers: verdict.WindowAnswers{OK: 64, None: 56},
			Keys: 77, Shared: 3, BackWhy: "no healing was recorded", Lost: &one, Twice: &none,
		},
	}
}

func inconclusiveRun() verdict.Run {
	r := cleanRun()
	r.Verdict.Findings[3] = verdict.Finding{
		Invariant: "replay-fidelity", Status: verdict.Inconclusive, Claimed: true, Looked: 0, Unit: "replays", Why: "the run produced no replay",
	}
	r.Verdict.Doubts = []string{"the generator sent 3.1 % of the requests more than 10 ms late: response times are not to be trusted"}
	return r
}

func interruptedRun() verdict.Run {
	r := cleanRun()
	r.Verdict.Interrupted = true
	r.Timeline, r.Latency = r.Timeline[:9], nil
	return r
}

func gateRun() verdict.Run {
	r := cleanRun()
	r.Verdict.Gates = []verdict.Gate{
		{Name: "order fresh response p99", Status: verdict.Violated, Limit: dms(10), Value: dms(12), Low: dms(10.8), High: dms(14.5), Samples: 6400},
		{Name: "order replay response p90", Status: verdict.Held, Limit: dms(60), Value: dms(4.3), Low: dms(4), High: dms(5), Samples: 990},
		{Name: "checkout fresh response p99", Status: verdict.NotJudged, Limit: dms(60), Samples: 12, Why: "the scenario does not claim it"},
	}
	return r
}

// nastyRun holds what a hostile client or server can put into keys, bodies, rows and names.
func nastyRun() verdict.Run {
	evil := "<script>alert('x')</script>]]>&amp;|`*_[a](javascript:x)\"\x00\x07\x1b[31m\u202e\ufeff\xff\r\nend"
	r := violatedRun()
	r.Scenario, r.Verdict.Scenario = evil, evil
	r.Summary, r.Subject, r.Tool, r.Reproduce = evil, evil, evil, "idemstorm run 'a b' \\\\ "+evil
	r.Facts = []verdict.Fact{{Name: evil, Value: evil}}
	r.Files = []string{"javascript:alert(1)", "../x", evil}
	r.Counts.Answers = map[string]int64{evil: 3}
	r.Timeline = []verdict.Slot{{AtNS: 0, ForNS: 1, Ended: map[string]int64{evil: 3, "": 2}, P50: 1, Max: 2}, {AtNS: 1, ForNS: 0}}
	v := &r.Verdict.Findings[0].Violations[0]
	v.Sentence, v.Expected, v.Seen, v.Endpoint = evil, evil, evil, evil
	v.Key = strings.Repeat("k\u00e9y|`", 1500)
	v.Rows = []history.Row{{Table: evil, ID: evil, Fields: map[string]string{evil: evil, "long": strings.Repeat("x", 9000)}}, {Table: evil, ID: "2"}}
	v.Ops = append(v.Ops, history.Ref{Op: 404})
	for i := range r.Cases {
		r.Cases[i].Operation.Path, r.Cases[i].Operation.Spelling = evil, evil
		for j := range r.Cases[i].Attempts {
			r.Cases[i].Attempts[j].Body = []byte(evil)
		}
	}
	r.Verdict.Findings[1].Why, r.Verdict.Findings[1].Unit, r.Verdict.Findings[1].Invariant = evil, evil, evil
	r.Verdict.Gates = []verdict.Gate{{Name: evil, Status: verdict.Inconclusive, Why: evil}}
	r.Verdict.Doubts = []string{evil}
	r.Latency = append(r.Latency, latency.Summary{
		Series: latency.Series{Group: evil, Kind: latency.Kind(evil)}, Count: 3, Max: 1, Clipped: 2,
		Curve: []latency.Point{{Q: -3, Value: -5}, {Q: 7, Value: 0}},
	})
	r.Faults = []history.Fault{{ID: 9, Name: evil, On: evil, Phase: "healed"}, {ID: 1, Name: evil, On: evil, Phase: history.FaultBegan, AtNS: ms(1205)}}
	r.Recovery = []verdict.Recovery{{Fault: 1, Name: evil}}
	r.Windows = []verdict.Window{{Fault: 1, Kind: evil, On: evil, BackWhy: evil}, {Fault: -9, FromNS: -1}}
	r.Verdict.Findings[0].Faults = []verdict.FaultTally{{Fault: 1, Count: 1, Example: evil}}
	return r
}

// bigRun has more of everything than a report shows.
func bigRun() verdict.Run {
	r := violatedRun()
	v := &r.Verdict.Findings[0].Violations[0]
	v.Ops, r.Cases = nil, nil
	for i := range int64(200) {
		v.Ops = append(v.Ops, history.Ref{Op: i + 1})
		r.Cases = append(r.Cases, verdict.Case{
			Operation: order(i+1, int(i)), Answers: []string{"fresh"},
			Attempts: []history.Attempt{answered(i+1, 1, 1, float64(i), float64(i)+5, 201, "{}")},
		})
		v.Rows = append(v.Rows, history.Row{Table: "paper_orders", ID: fmt.Sprint(i), Fields: map[string]string{"note": strings.Repeat("n", 500)}})
	}
	return r
}
