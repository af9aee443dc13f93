package lab

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
)

// warmings is how often in a row each server answers before it counts: connections are open then, and statements prepared.
const warmings = 3

func (l *Lab) warm(ctx context.Context) error {
	route, err := findRoute(l.opts.Route)
	if err != nil {
		return err
	}
	for _, client := range l.clients {
		for range warmings {
			if a := l.askTwice(ctx, client, route.request); !well(a) {
				return fmt.Errorf("warm up: %s %s answered %d %s", a.Method, a.Path, a.Status, a.Answer)
			}
		}
	}
	return nil
}

// askTwice makes a fresh request and asks for its replay, and gives the first bad answer.
func (l *Lab) askTwice(ctx context.Context, client *explore.Client, r explore.Request) (a explore.Attempt) {
	c := l.freshKey()
	for range 2 {
		if a = client.Send(ctx, c, r); !well(a) {
			return a
		}
	}
	return a
}

func well(a explore.Attempt) bool { return a.Status != 0 && a.Status < http.StatusInternalServerError }

const (
	rewarmWithin = 10 * time.Second
	rewarmEvery  = 10 * time.Millisecond
)

// rewarm warms up after a restart of a server or the database: pools find out by use that their connections are dead, which would be taken for
// what the next request does.
func (l *Lab) rewarm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rewarmWithin)
	defer cancel()
	tick := time.NewTicker(rewarmEvery)
	defer tick.Stop()
	for {
		err := l.warm(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("after a restart: %w", err)
		}
	}
}
