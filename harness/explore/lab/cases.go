package lab

import (
	"cmp"
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
	sent        time.Duration // a first request was sent so long ago, and its answer never came; 0 for none
	before      string        // SQL that makes the rows of a schedule; $1 key, $2 user, $3 endpoint, $4 its TTL in seconds
	completed   bool          // a first request was answered, and its record then grew old by the SQL of before
	erases      bool          // each schedule needs a user of its own
	beside      bool          // one actor more acts beside the requests
	threshold   bool          // claims go stale within a schedule
}

// Cases are the constellations that can be explored.
var Cases = []Case{
	{Name: "duplicates", Story: "identical requests under one key", actors: duplicates},
	{Name: "mismatch", Story: "a request, and other requests under its key", actors: mismatches},
	{Name: "busy", Story: "identical requests under a key whose first request is still at work", actors: duplicates, before: busySQL, sent: busyFor},
	{Name: "stale", Story: "identical requests under a key whose first claim was abandoned", actors: duplicates, before: staleSQL, sent: time.Hour},
	{Name: "retried", Story: "the same, each request sent once more at once when its answer is not final", actors: retried, before: staleSQL, sent: time.Hour},
	{Name: "stalled", Story: "identical requests, and a moment at which every claim in flight goes stale", actors: withTime, beside: true, threshold: true},
	{Name: "cleanup", Story: "identical requests under an expired key, beside the cleanup command", actors: withCleanup, before: expiredSQL, beside: true},
	{
		Name: "cleanup-kept", Story: "identical requests under a completed key with half an hour to live, beside the cleanup command",
		actors: withCleanup, before: agedSQL, completed: true, beside: true,
	},
	{
		Name: "cleanup-busy", Story: "requests, sent twice, under a key whose first request is at work beyond the key's life, beside the cleanup command",
		actors: retriedWithCleanup, before: overdueSQL, sent: busyFor, beside: true,
	},
	{Name: "erase", Story: "identical requests of a user, beside the command that erases them", actors: withErase, erases: true, beside: true},
}

// busyFor is how long a request has been at work that nothing may take for dead.
const busyFor = 10 * time.Second

// Of a first request that is said to have been sent, the record tells: it is that of the same request, by its hash, and has lived as long as
// Case.sent says.
const (
	claimedSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, created_at, locked_at, expires_at)
SELECT $1, $2, $3, COALESCE((SELECT request_hash FROM idempotency_keys WHERE scope_user_id = $2 AND scope_endpoint = $3 LIMIT 1), ''),
`
	busySQL    = claimedSQL + `NOW() - INTERVAL '10 seconds', NOW() - INTERVAL '10 seconds', NOW() - INTERVAL '10 seconds' + make_interval(secs => $4)`
	staleSQL   = claimedSQL + `NOW() - INTERVAL '1 hour', NOW() - INTERVAL '1 hour', NOW() - INTERVAL '1 hour' + make_interval(secs => $4)`
	overdueSQL = claimedSQL + `NOW() - INTERVAL '1 hour' - make_interval(secs => $4), NOW() - INTERVAL '10 seconds', NOW() - INTERVAL '1 hour'`

	expiredSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, status, response_code, response_body,
                              created_at, locked_at, expires_at)
SELECT $1, $2, $3, COALESCE((SELECT request_hash FROM idempotency_keys WHERE scope_user_id = $2 AND scope_endpoint = $3 LIMIT 1), ''),
       'completed', 201, '{}', NOW() - INTERVAL '1 day' - make_interval(secs => $4), NOW() - INTERVAL '1 day' - make_interval(secs => $4),
       NOW() - INTERVAL '1 day'`

	agedSQL = `
UPDATE idempotency_keys
SET created_at = NOW() + INTERVAL '30 minutes' - make_interval(secs => $4), locked_at = NOW() + INTERVAL '30 minutes' - make_interval(secs => $4),
    expires_at = NOW() + INTERVAL '30 minutes'
WHERE idem_key = $1 AND scope_user_id = $2 AND scope_endpoint = $3`
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
	var first firsts
	return explore.Scenario{
		Name:   l.name(c),
		Actors: c.actors(l, route),
		Fresh: func(ctx context.Context) (explore.Case, error) {
			return l.fresh(ctx, c, func(cs explore.Case) { first.put(l.patient().Actor("first", "", route.request).Act(ctx, cs)) })
		},
		Judge: func(ctx context.Context, cs explore.Case, plays []explore.Play) (schedule.Outcome, error) {
			beside := explore.Beside{Plays: append(first.get(cs.Key), c.past(cs, route)...), Events: c.erased(cs, plays)}
			if !c.erases { // nobody is left to ask again
				plays = l.asking(route).once(ctx, cs, plays)
			}
			return l.judge.Case(ctx, cs, plays, beside)
		},
	}, nil
}

// past is what had happened under the key before the schedule began, where only its record tells of it.
func (c Case) past(cs explore.Case, r Route) []explore.Play {
	if c.sent == 0 {
		return nil
	}
	return []explore.Play{{
		Answer: schedule.Answer{Class: explore.Lost},
		Sent: []explore.Attempt{{
			Method: r.request.Method, Path: r.request.Path, Body: r.request.Body, Request: r.request.Meaning, Key: cs.Key,
			SentNS: -int64(c.sent), DoneNS: -int64(c.sent - c.sent/10), Replica: 1,
		}},
	}}
}

func (l *Lab) name(c Case) string {
	return fmt.Sprintf("%s: %d × %s, %s", l.subject(), l.opts.Requests, l.opts.Route, c.Name)
}

func (l *Lab) subject() string {
	return cmp.Or(l.opts.Variant, l.opts.Strategy, "reference")
}

// freshKey is a key that nobody has used, for the first user.
func (l *Lab) freshKey() explore.Case {
	user := l.fixture.Users[0]
	return explore.Case{Began: time.Now(), Key: uuid.NewString(), User: user.ID, Token: user.Token}
}

// fresh makes the key of a schedule; complete sends its first request, where the case has one that was answered.
func (l *Lab) fresh(ctx context.Context, c Case, complete func(explore.Case)) (explore.Case, error) {
	out := l.freshKey()
	if c.erases {
		l.users++
		if l.users >= len(l.fixture.Users) {
			return out, errors.New("no user is left that was not erased yet")
		}
		user := l.fixture.Users[l.users]
		out.User, out.Token = user.ID, user.Token
	}
	if c.completed {
		complete(out)
	}
	if c.before == "" {
		return out, nil
	}
	route, _ := l.contract().Route(l.opts.Route) // checked when the lab was opened
	return out, l.execute(ctx, c.before, out.Key, out.User, route.Scope(), route.TTL.Seconds())
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

// retried are clients that do as a 409 says, without waiting.
func retried(l *Lab, r Route) []explore.Actor {
	actors := duplicates(l, r)
	for n := range actors {
		once, client := actors[n].Act, l.client(n)
		actors[n].Act = func(ctx context.Context, c explore.Case) explore.Play {
			play := once(ctx, c)
			if client.Final(play.Sent[0]) {
				return play
			}
			again := once(ctx, c)
			again.Sent = append(play.Sent, again.Sent...)
			return again
		}
	}
	return actors
}

func retriedWithCleanup(l *Lab, r Route) []explore.Actor {
	return append(retried(l, r), l.cleanupActor())
}

func mismatches(l *Lab, r Route) []explore.Actor {
	out := []explore.Actor{l.client(0).Actor("request", "", r.request)}
	for n := 1; n < l.requests(); n++ {
		out = append(out, l.client(n).Actor(fmt.Sprintf("other %d", n), "other", r.other))
	}
	return out
}

func withCleanup(l *Lab, r Route) []explore.Actor {
	return append(duplicates(l, r), l.cleanupActor())
}

func (l *Lab) cleanupActor() explore.Actor {
	return l.commandActor("cleanup", func(explore.Case) []string { return []string{"cleanup"} })
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
