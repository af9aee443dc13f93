package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
)

const (
	duplicates = 10 // operations of one key
	users      = 100
	cash       = int64(1_000_000_000_00)
	endpoint   = "POST /api/trading/orders"
	seed       = 7
)

// scenarioText is the scenario that the run claims to be of: every key is raced by ten duplicates.
const scenarioText = `name: checker-bench
summary: A long right history, made up to measure the checker.
catches: Nothing; it measures.
suites: [full]
subject: {replicas: 2, stale_after: 6s}
workload:
  fixture: {users: 100, positions: 0, cash: "1000000000.00"}
  phases:
    - {name: crowds, shape: race, loop: closed, clients: 8, keys: %d, duplicates: 10, mix: {order: 1}, deadline: 5s, bound: 24h}
invariants: [at-most-once, acked-durable, money-conserved, order-audit-match, nothing-unclaimed, replay-fidelity, replay-audited, legal-transitions, recovers, retention, metrics-agree]
`

// write makes a run directory. The same number of operations gives the same files, byte for byte, but for run.json's version of the program.
func write(dir string, operations int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	text := fmt.Sprintf(scenarioText, operations/duplicates)
	if err := os.WriteFile(filepath.Join(dir, harness.FileScenario), []byte(text), 0o666); err != nil {
		return err
	}
	scenario, err := scenarios.Load(filepath.Join(dir, harness.FileScenario))
	if err != nil {
		return err
	}
	set := evidence.Set{Charges: []evidence.Charge{}, Secrets: []history.Row{}, Scanned: 1}
	var accounts []plan.Account
	for user := int64(1); user <= users; user++ {
		accounts = append(accounts, plan.Account{ID: user})
		set.Opening = append(set.Opening, evidence.Account{User: user, CashCents: cash, Positions: map[string]int64{}})
		set.Closing = append(set.Closing, evidence.Account{User: user, CashCents: cash, Positions: map[string]int64{}})
	}
	p, err := plan.Build(plan.Input{Spec: scenario.Workload, Seed: seed, Contract: scenario.Subject.Contract(), Accounts: accounts})
	if err != nil {
		return err
	}
	if err := history.WriteOperations(filepath.Join(dir, harness.FilePlan), p.Operations()); err != nil {
		return err
	}
	return save(dir, scenario, p, &set)
}

func save(dir string, scenario scenarios.Scenario, p *plan.Plan, set *evidence.Set) error {
	var times latency.Set
	took, counters, err := tell(dir, p, set, &times)
	if err != nil {
		return err
	}
	set.Counters = counters
	if err := evidence.Save(filepath.Join(dir, harness.FileEvidence), *set); err != nil {
		return err
	}
	if err := latency.WriteLog(filepath.Join(dir, harness.FileLatency), &times); err != nil {
		return err
	}
	return verdict.Save(dir, verdict.Run{
		Tool: harness.Version(), Scenario: scenario.Name, Summary: scenario.Summary, Seed: seed, PlanDigest: p.Digest(),
		Reproduce: "docs/bench/checker.sh", Started: base, Took: took, Subject: "nobody: a made-up history", Latency: times.Summaries(),
	})
}

// tell writes the history, key by key, and gives its length in time and what the server's counters would say.
func tell(dir string, p *plan.Plan, set *evidence.Set, times *latency.Set) (time.Duration, map[string]float64, error) {
	writer, err := history.Create(filepath.Join(dir, harness.FileHistory))
	if err != nil {
		return 0, nil, err
	}
	counters := map[string]float64{}
	recorder := times.Recorder()
	count := func(name string) { counters[evidence.CounterName("idempotency_"+name+"_total", endpoint)]++ }
	w := &world{rnd: rand.New(rand.NewPCG(seed, seed)), writer: writer.Recorder(), set: set, zero: int64(time.Second)}
	w.count = func(a *history.Attempt) {
		for _, kind := range []latency.Kind{latency.Response, latency.Service} {
			recorder.Record(latency.Series{Group: latency.All, Kind: kind}, time.Duration(a.DoneNS-a.SentNS))
		}
		switch {
		case a.Marked:
			count("hit")
			count("replay")
		case a.RetryAfter != "":
			count("hit")
			count("in_flight")
		case a.Status == 409:
			count("hit")
		default:
			count("miss")
		}
	}
	var crowd []history.Operation
	for o := range p.Operations() {
		if crowd = append(crowd, o); len(crowd) == duplicates {
			w.tell(crowd)
			crowd = crowd[:0]
		}
	}
	recorder.Flush()
	return time.Duration(w.zero), counters, writer.Close()
}
