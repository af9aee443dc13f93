package lab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// Case is one constellation of actors.
type Case struct {
	Name, Story string
	actors      func(*Lab, Route) []explore.Actor
	abandoned   bool   // a first request was sent long ago, and its answer never came
	before      string // SQL that makes the rows of a schedule; $1 key, $2 user, $3 endpoint
	erases      bool   // each schedule needs a user of its own
	beside      bool   // one actor more acts beside the requests
	threshold   bool   // claims go stale within a schedule
}

// Cases are the constellations that can be explored.
var Cases = []Case{
	{Name: "duplicates", Story: "identical requests under one key", actors: duplicates},
	{Name: "mismatch", Story: "a request, and other requests under its key", actors: mismatches},
	{Name: "stale", Story: "identical requests under a key whose first claim was abandoned", actors: duplicates, before: staleSQL, abandoned: true},
	{Name: "stalled", Story: "identical requests, and a moment at which every claim in flight goes stale", actors: withTime, beside: true, threshold: true},
	{Name: "cleanup", Story: "identical requests under an expired key, beside the cleanup command", actors: withCleanup, before: expiredSQL, beside: true},
	{Name: "erase", Story: "identical requests of a user, beside the command that erases them", actors: withErase, erases: true, beside: true},
}

const (
	staleSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, created_at, locked_at, expires_at)
SELECT $1, $2, $3, COALESCE((SELECT request_hash FROM idempotency_keys WHERE scope_user_id = $2 AND scope_endpoint = $3 LIMIT 1), ''),
       NOW() - INTERVAL '1 hour', NOW() - INTERVAL '1 hour', NOW() + INTERVAL '1 hour'`

	expiredSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, status, response_code, response_body,
                              created_at, locked_at, expires_at)
SELECT $1, $2, $3, COALESCE((SELECT request_hash FROM idempotency_keys WHERE scope_user_id = $2 AND scope_endpoint = $3 LIMIT 1), ''),
       'completed', 201, '{}', NOW() - INTERVAL '2 days', NOW() - INTERVAL '2 days', NOW() - INTERVAL '1 day'`
)

func findCase(name string) (Case, error) {
	names := make([]string, 0, len(Cases))
	for _, c := range Cases {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Case{}, fmt.Errorf("no case %q; there are: %s", name, strings.Join(names, ", "))
}

func (l *Lab) requests() int { return l.opts.Requests }

func (l *Lab) scenario() (explore.Scenario, error) {
	c, err := findCase(l.opts.Case)
	if err != nil {
		return explore.Scenario{}, err
	}
	route, err := findRoute(l.opts.Route)
	if err != nil {
		return explore.Scenario{}, err
	}
	return explore.Scenario{
		Name:   l.name(c),
		Actors: c.actors(l, route),
		Fresh:  func(ctx context.Context) (explore.Case, error) { return l.fresh(ctx, c) },
		Judge: func(ctx context.Context, cs explore.Case, plays []explore.Play) (schedule.Outcome, error) {
			beside := explore.Beside{Plays: c.past(cs, route), Events: c.erased(cs, plays)}
			if !c.erases { // nobody is left to ask again
				plays = l.again(ctx, cs, route, plays)
			}
			return l.judge.Case(ctx, cs, plays, beside)
		},
	}, nil
}

// past is what had happened under the key before the schedule began.
func (c Case) past(cs explore.Case, r Route) []explore.Play {
	if !c.abandoned {
		return nil
	}
	const sent, hungUp = -int64(time.Hour), -int64(59 * time.Minute)
	return []explore.Play{{
		Answer: schedule.Answer{Class: explore.Lost},
		Sent: []explore.Attempt{{
			Method: r.request.Method, Path: r.request.Path, Body: r.request.Body, Request: r.request.Meaning, Key: cs.Key,
			SentNS: sent, DoneNS: hungUp, Replica: 1,
		}},
	}}
}

// again sends one request more for an actor whose answer was not final, so that what a schedule left behind is asked for once.
func (l *Lab) again(ctx context.Context, cs explore.Case, r Route, plays []explore.Play) []explore.Play {
	for i, play := range plays {
		if len(play.Sent) == 1 && !l.patient().Final(play.Sent[0]) {
			a := l.patient().Send(ctx, cs, r.as(play.Sent[0]))
			a.Settle = true
			plays[i].Sent = append(plays[i].Sent, a)
			return plays
		}
	}
	return plays
}

func (l *Lab) name(c Case) string {
	return fmt.Sprintf("%s: %d × %s, %s", l.subject(), l.opts.Requests, l.opts.Route, c.Name)
}

func (l *Lab) subject() string {
	if l.opts.Variant == "" {
		return "reference"
	}
	return l.opts.Variant
}

// freshKey is a key that nobody has used, for the first user.
func (l *Lab) freshKey() explore.Case {
	user := l.fixture.Users[0]
	return explore.Case{Began: time.Now(), Key: uuid.NewString(), User: user.ID, Token: user.Token}
}

func (l *Lab) fresh(ctx context.Context, c Case) (explore.Case, error) {
	out := l.freshKey()
	if c.erases {
		l.users++
		if l.users >= len(l.fixture.Users) {
			return out, errors.New("no user is left that was not erased yet")
		}
		user := l.fixture.Users[l.users]
		out.User, out.Token = user.ID, user.Token
	}
	if c.before == "" {
		return out, nil
	}
	return out, l.execute(ctx, c.before, out.Key, out.User, l.endpoint())
}

func (l *Lab) endpoint() string {
	route, _ := l.contract().Route(l.opts.Route) // checked when the lab was opened
	return route.Scope()
}

func (l *Lab) execute(ctx context.Context, sql string, args ...any) error {
	if _, err := l.side.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("prepare a case: %w", err)
	}
	return nil
}

// erased says when the command that stands beside the requests had erased their user.
func (c Case) erased(cs explore.Case, plays []explore.Play) []history.Event {
	if !c.erases {
		return nil
	}
	at := plays[len(plays)-1].DoneNS
	return []history.Event{{Note: &history.Note{AtNS: at, Kind: "erased", Text: strconv.FormatInt(cs.User, 10)}}}
}

func duplicates(l *Lab, r Route) (out []explore.Actor) {
	for n := range l.requests() {
		out = append(out, l.client(n).Actor(fmt.Sprintf("request %d", n+1), "request", r.request))
	}
	return out
}

func mismatches(l *Lab, r Route) []explore.Actor {
	out := []explore.Actor{l.client(0).Actor("request", "", r.request)}
	for n := 1; n < l.requests(); n++ {
		out = append(out, l.client(n).Actor(fmt.Sprintf("other %d", n), "other", r.other))
	}
	return out
}

func withCleanup(l *Lab, r Route) []explore.Actor {
	return append(duplicates(l, r), l.commandActor("cleanup", func(explore.Case) []string { return []string{"cleanup"} }))
}

func withErase(l *Lab, r Route) []explore.Actor {
	return append(duplicates(l, r), l.commandActor("erase", func(c explore.Case) []string {
		return []string{"erase", "--user", strconv.FormatInt(c.User, 10)}
	}))
}

// withTime lets time pass: really, so that no row has to be tampered with. It is an actor because when it passes is what matters.
func withTime(l *Lab, r Route) []explore.Actor {
	return append(duplicates(l, r), explore.Actor{Name: "time", Act: func(ctx context.Context, _ explore.Case) explore.Play {
		answer := schedule.Answer{Class: "done"}
		// The simple protocol, so that it is one step.
		if _, err := l.clock.Exec(ctx, fmt.Sprintf(passSQL, (l.opts.StaleAfter+20*time.Millisecond).Seconds()), pgx.QueryExecModeSimpleProtocol); err != nil {
			answer = schedule.Answer{Class: "failed", Body: err.Error()}
		}
		return explore.Play{Answer: answer}
	}})
}

// passSQL is waited for inside the database, which is not the same as being blocked there: the others stand still meanwhile.
const passSQL = `SELECT pg_sleep(%f) /* time passes */`

// commandActor runs a command of the binary, whose database lies behind a gate of its own.
func (l *Lab) commandActor(name string, args func(explore.Case) []string) explore.Actor {
	return explore.Actor{Name: name, Act: func(ctx context.Context, c explore.Case) explore.Play {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		words := args(c)
		if l.opts.Variant != "" {
			words = append(words, "--variant", l.opts.Variant)
		}
		cmd := exec.CommandContext(ctx, l.opts.Exe, words...)
		cmd.Env = append(cmd.Environ(), "DATABASE_URL="+l.commandDSN)
		out, err := cmd.CombinedOutput()
		answer := schedule.Answer{Class: "done", Body: strings.TrimSpace(string(out))}
		if err != nil {
			answer.Class = "failed"
		}
		return explore.Play{Answer: answer}
	}}
}
