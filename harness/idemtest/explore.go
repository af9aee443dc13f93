package idemtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
)

// Explore plays every order of the SQL statements of two identical requests under one key, and fails the test with the shortest order that it
// has found to be wrong. Nothing is left to luck: a race that a storm meets once in a thousand times is found every time.
//
// It runs on a throwaway PostgreSQL of its own. start is called three times, one call after the other, each with another database URL, which
// leads through a proxy that holds each statement; it gives a handler that uses that URL and shares no memory with the others, and makes
// the tables if they are not there. executions is a query as Evidence has it, in that database.
//
// What keeps the search from being every order fails the test as well, with the reason: statements that the service issues beside requests, or a
// time of two minutes or the test's own that was not enough. Endpoint's Scenarios, Clients, Keys, Seed and Users after the first have no meaning
// here.
func Explore(t testing.TB, start func(dsn string) (http.Handler, error), e Endpoint, executions string) {
	t.Helper()
	ctx, cancel := untilDeadline(t)
	defer cancel()
	result, err := e.explore(ctx, t, start, executions)
	if err != nil {
		t.Fatalf("idemtest: %v", inGo(err))
	}
	if err := told(t, result); err != nil {
		t.Fatalf("idemtest: %v", err)
	}
}

// exploreWithin bounds a search: two requests of a dozen statements each are explored in seconds.
const exploreWithin = 2 * time.Minute

func (e Endpoint) explore(ctx context.Context, t testing.TB, start func(string) (http.Handler, error), executions string) (result schedule.Result, err error) {
	target, err := e.explored(t.Name(), executions)
	if err != nil {
		return result, err
	}
	var servers []*serving
	l, err := lab.OpenForeign(ctx, lab.ForeignOptions{Target: target, Dir: t.ArtifactDir(), Serve: func(_ int, dsn string) (string, error) {
		h, err := start(dsn)
		if err != nil {
			return "", fmt.Errorf("start: %w", err)
		}
		s, err := Handler(h).start(t)
		if err != nil {
			return "", err
		}
		servers = append(servers, s)
		return s.urls[0], nil
	}})
	defer func() {
		for _, s := range servers {
			s.close()
		}
	}()
	if err != nil {
		return result, err
	}
	result, err = l.Explore(ctx, explore.Options{Preemptions: schedule.Unbounded, Symmetry: true, Time: exploreWithin})
	return result, errors.Join(err, l.Close(ctx))
}

// explored is the endpoint as the explorer wants it: the server is started, by a program that is this one.
func (e Endpoint) explored(test, executions string) (subject.Target, error) {
	e.Name = orElse(e.Name, test)
	if len(e.Users) > 1 {
		e.Users = e.Users[:1]
	}
	target := e.target(nil)
	target.Start.Command = []string{os.Args[0]}
	target.Evidence.Executions = executions
	if !strings.Contains(executions, "key") && strings.Contains(executions, "token") {
		target.Evidence.By = subject.ByToken
	}
	return target.Described(test)
}

// told fails the test with the order that is wrong, or says in its log how many were played.
func told(t testing.TB, result schedule.Result) error {
	t.Helper()
	if result.Exit() == verdict.ExitHeld {
		t.Logf("idemtest: %s: %s", result.Claim(), result.Sentence())
		return nil
	}
	dir := filepath.Join(t.ArtifactDir(), "idemtest-explore")
	var b strings.Builder
	err := reports.WriteExploration(&b, result)
	if err == nil && result.Schedule != nil {
		b.WriteString("\n")
		err = reports.WriteSchedule(&b, result.Schedule)
	}
	if err = errors.Join(err, os.MkdirAll(dir, 0o755), reports.SaveExplorationHTML(dir, result)); err != nil {
		return fmt.Errorf("show what was found: %w", err)
	}
	t.Errorf("idemtest: %s\nThe whole report: %s", strings.TrimSpace(b.String()), kept(filepath.Join(dir, reports.HTMLFile)))
	return nil
}
