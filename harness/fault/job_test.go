package fault

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestEraseErasesUsersInOrderAndSaysSo(t *testing.T) {
	var ran []string
	var told notes
	w := World{Note: told.add, Command: func(_ context.Context, args ...string) error {
		ran = append(ran, strings.Join(args, " "))
		return nil
	}}
	healed := struck(t, Spec{Kind: "command", Run: "erase", Users: 3}, w, func() {})
	if want := []string{"erase --user 1", "erase --user 2", "erase --user 3"}; !slices.Equal(ran, want) || healed.Bit != 3 {
		t.Errorf("ran %q", ran)
	}
	if want := []string{"erased 1", "erased 2", "erased 3"}; !slices.Equal(told.list, want) {
		t.Errorf("the checks are told %q", told.list)
	}
}

func TestARepeatedCommandEndsWithTheFault(t *testing.T) {
	var runs, running atomic.Int64
	third := make(chan struct{})
	w := World{Note: new(notes).add, Command: func(context.Context, ...string) error {
		running.Add(1)
		defer running.Add(-1)
		if runs.Add(1) == 3 {
			close(third)
		}
		return nil
	}}
	healed := struck(t, Spec{Kind: "command", Run: "cleanup", Every: time.Millisecond}, w, func() { <-third })
	if n := runs.Load(); healed.Bit != n || running.Load() != 0 {
		t.Errorf("%d runs, %d counted, %d still running", n, healed.Bit, running.Load())
	}
}

func TestACommandThatFailsIsReported(t *testing.T) {
	broken := errors.New("no such table")
	w := World{Note: new(notes).add, Command: func(context.Context, ...string) error { return broken }}
	timeline, err := NewTimeline([]Spec{{Kind: "command", For: time.Millisecond, Run: "cleanup"}}, w)
	if err != nil {
		t.Fatal(err)
	}
	rec := make(recorder, 3)
	if err := timeline.Run(t.Context(), time.Now(), rec); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestWhatARunDoesNotHaveCannotBeStruck(t *testing.T) {
	for _, s := range []Spec{
		{Kind: "flag", Flag: "new_orders_disabled"},
		{Kind: "command", Run: "cleanup"},
		{Kind: "records-expire"},
		{Kind: "records-age", By: 1},
		{Kind: "provider-down"},
		{Kind: "provider-slow", Delay: 1},
		{Kind: "redis-restart"},
		{Kind: "postgres-kill"},
		{Kind: "postgres-read-only"},
		{Kind: "postgres-connections-exhausted"},
		{Kind: "postgres-disk-full"},
		{Kind: "postgres-table-lock"},
		{Kind: "pgbouncer-kill"},
		{Kind: "replica-kill"},
		{Kind: "replica-restart", Replica: 2},
		{Kind: "commit-ack-lost", On: Store},
	} {
		if _, err := NewTimeline([]Spec{s}, World{}); err == nil {
			t.Errorf("%s strikes where there is nothing", s.Kind)
		}
	}
}
