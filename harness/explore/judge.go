package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Judge judges one schedule from its rows by the checks of every run. It reads only what names the schedule's key. Its methods may
// be called at once.
type Judge struct {
	Contract contract.Contract
	Queries  evidence.Queries
	DSN      string
	Route    string // id of the contract's route that the requests take
	// Recovery bounds the time from the end of a fault to the last key's final answer. Zero says that keys were given no
	// time to settle: a schedule alone is over in milliseconds, and whether a key recovers later is not for it to say.
	Recovery time.Duration
	// RowName is what rows call a key; nil for the key itself.
	RowName func(key string) string

	mu   sync.Mutex // guards conn
	conn *pgx.Conn
}

// Close ends the judge's connection to the database.
func (j *Judge) Close(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.conn == nil {
		return nil
	}
	return j.conn.Close(ctx)
}

// Beside is what happened under a schedule's key other than by its actors.
type Beside struct {
	Plays  []Play          // by others, before
	Events []history.Event // faults, notes
}

// Case judges what the actors did.
func (j *Judge) Case(ctx context.Context, c Case, plays []Play, beside Beside) (schedule.Outcome, error) {
	rows, err := j.read(ctx, c.Key)
	if err != nil {
		return schedule.Outcome{}, err
	}
	rows.set.Secrets, rows.set.Scanned, err = evidence.ScanSecrets(evidence.RecordBodies(rows.set.Records), []string{c.Token})
	if err != nil {
		return schedule.Outcome{}, fmt.Errorf("judge: %w", err)
	}
	operations, events := facts(c, j.Route, slices.Concat(beside.Plays, plays))
	v := check.Judge(check.Input{
		Contract:   j.Contract,
		Operations: each(operations),
		Events:     each(slices.Concat(beside.Events, events)),
		Evidence:   rows.set,
		Limits:     check.Limits{CrossKeys: -1, Recovery: j.Recovery},
	})
	out := schedule.Outcome{Executions: rows.executions(), Record: rows.record(), Rows: rows.text}
	for _, play := range plays {
		out.Answers = append(out.Answers, play.Answer.Class)
	}
	slices.Sort(out.Answers)
	out.Violated = j.violations(v)
	return out, nil
}

func (j *Judge) violations(v verdict.Verdict) (out []schedule.Violation) {
	for _, f := range v.Findings {
		if f.Status == verdict.Violated && (j.Recovery > 0 || f.Invariant != "recovers") {
			out = append(out, schedule.Violation{Invariant: f.Invariant, Sentence: f.Violations[0].Sentence})
		}
	}
	return out
}

func each[T any](list []T) func(yield func(T, error) bool) {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// facts writes what the actors did as every other run does.
func facts(c Case, route string, plays []Play) (operations []history.Operation, events []history.Event) {
	for _, play := range plays {
		if len(play.Sent) == 0 {
			continue
		}
		id := int64(len(operations) + 1)
		first := play.Sent[0]
		operations = append(operations, history.Operation{
			ID: id, Phase: "schedule", Client: int(id) - 1, Route: route, User: c.User, Method: first.Method, Path: first.Path,
			Keys: []string{first.Key}, Key: first.Key, Request: first.Request, Body: []byte(first.Body),
		})
		for n, a := range play.Sent {
			events = append(events, history.Event{Attempt: attempt(id, n+1, a)})
		}
	}
	return operations, events
}

func attempt(op int64, n int, a Attempt) *history.Attempt {
	out := &history.Attempt{
		Op: op, N: n, Replica: a.Replica, IntendedNS: a.SentNS, SentNS: a.SentNS, DoneNS: a.DoneNS,
		Outcome: history.Returned, Status: a.Status, Marked: a.Marked, Body: a.Answer, Settle: a.Settle,
	}
	if a.Status == 0 {
		out.Outcome, out.Cause = history.Lost, history.CauseReset
	}
	return out
}

// executions counts committed runs of the business action by what they left: distinct executions among orders, or else
// business audit rows.
func (r keyRows) executions() int {
	distinct := map[string]bool{}
	for _, o := range r.set.Orders {
		distinct[o.Execution] = true
	}
	if len(distinct) == 0 {
		return len(r.set.Audits)
	}
	return len(distinct)
}

func (r keyRows) record() string {
	var status []string
	for _, record := range r.set.Records {
		status = append(status, record.Status)
	}
	if len(status) == 0 {
		return "none"
	}
	return strings.Join(status, "+")
}

func (j *Judge) read(ctx context.Context, key string) (keyRows, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.conn == nil || j.conn.IsClosed() {
		conn, err := pgx.Connect(ctx, j.DSN)
		if err != nil {
			return keyRows{}, fmt.Errorf("judge: %w", err)
		}
		j.conn = conn
	}
	if j.RowName == nil {
		return readKey(ctx, j.conn, j.Queries, key)
	}
	rows, err := readKey(ctx, j.conn, j.Queries, j.RowName(key))
	for i := range rows.set.Orders {
		rows.set.Orders[i].Key = key
	}
	return rows, err
}
