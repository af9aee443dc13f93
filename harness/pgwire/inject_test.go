package pgwire_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

var modes = map[string]pgx.QueryExecMode{
	"simple":   pgx.QueryExecModeSimpleProtocol,
	"extended": pgx.QueryExecModeExec,
	"prepared": pgx.QueryExecModeCacheStatement,
}

func TestAnInjectedErrorComesAsItsCodeAndRunsNothing(t *testing.T) {
	for _, code := range pgwire.Injectable() {
		for mode, exec := range modes {
			t.Run(code+" "+mode, func(t *testing.T) {
				r := on("INSERT", pgwire.Action{Verb: pgwire.Fail, Code: code})
				s := newStage(t, r)
				_, err := s.proxd.Exec(s.ctx, "INSERT INTO "+s.table+" VALUES ($1)", exec, 1)
				if codeOf(err) != code {
					t.Fatalf("got %v", err)
				}
				if n := s.rows(t); n != 0 {
					t.Errorf("%d rows", n)
				}
				if got := r.last(t, "INSERT").outcome; got.End != pgwire.Injected || got.Code != code {
					t.Errorf("outcome %+v", got)
				}
				fatal := code == "57P01" || code == "08006"
				if err := selectOne(s.ctx, s.proxd); (err != nil) != fatal {
					t.Errorf("the session afterwards: %v", err)
				}
				if s.proxy.Stats().Injected != 1 {
					t.Errorf("stats %+v", s.proxy.Stats())
				}
			})
		}
	}
}

func TestAnInjectedErrorFailsTheOpenTransactionForReal(t *testing.T) {
	for mode, exec := range modes {
		t.Run(mode, func(t *testing.T) {
			s := newStage(t, on("VALUES (2)", pgwire.Action{Verb: pgwire.Fail, Code: "40001"}))
			run := func(sql string) (string, error) {
				// Not Exec: without arguments it ignores the mode.
				rows, _ := s.proxd.Query(s.ctx, sql, exec)
				rows.Close()
				return rows.CommandTag().String(), rows.Err()
			}
			for _, sql := range []string{"BEGIN", "INSERT INTO " + s.table + " VALUES (1)"} {
				if _, err := run(sql); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := run("INSERT INTO " + s.table + " VALUES (2)"); codeOf(err) != "40001" {
				t.Fatalf("got %v", err)
			}
			if status := s.proxd.PgConn().TxStatus(); status != 'E' {
				t.Errorf("status %c, want E", status)
			}
			if _, err := run("SELECT 1"); codeOf(err) != "25P02" {
				t.Errorf("a statement in the failed transaction: %v", err)
			}
			if tag, err := run("COMMIT"); tag != "ROLLBACK" || err != nil {
				t.Errorf("COMMIT gave %q, %v", tag, err)
			}
			if n := s.rows(t); n != 0 {
				t.Errorf("%d rows survived", n)
			}
		})
	}
}

func TestAnErrorInjectedAtASplitSyncUndoesTheStatement(t *testing.T) {
	r := &recorder{act: func(_ context.Context, step *pgwire.Step) pgwire.Action {
		if step.Of != nil {
			return pgwire.Action{Verb: pgwire.Fail, Code: "40001"}
		}
		return pgwire.Action{SplitSync: strings.Contains(step.SQL(), "INSERT")}
	}}
	s := newStage(t, r)
	if err := s.insert(1); codeOf(err) != "40001" {
		t.Errorf("got %v", err)
	}
	if status := s.proxd.PgConn().TxStatus(); status != 'I' || s.rows(t) != 0 {
		t.Errorf("status %c, %d rows", status, s.rows(t))
	}
	if err := selectOne(s.ctx, s.proxd); err != nil {
		t.Error(err)
	}
}

func TestAStatementThatFailedByInjectionIsNotTakenForPrepared(t *testing.T) {
	failed := false
	r := &recorder{act: func(_ context.Context, step *pgwire.Step) pgwire.Action {
		if len(step.Prepares) > 0 && !failed {
			failed = true
			return pgwire.Action{Verb: pgwire.Fail, Code: "53300"}
		}
		return pgwire.Action{}
	}}
	s := newStage(t, r)
	if _, err := s.proxd.Prepare(s.ctx, "p", "SELECT 1"); codeOf(err) != "53300" {
		t.Fatal(err)
	}
	if _, err := s.proxd.Exec(s.ctx, "p", pgx.QueryExecModeSimpleProtocol); err == nil {
		t.Error("p exists")
	}
	if _, err := s.proxd.Prepare(s.ctx, "p", "SELECT 2"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.proxd.Exec(s.ctx, "p"); err != nil || r.last(t, "SELECT 2").step.SQL() != "SELECT 2" {
		t.Error(err)
	}
}

func TestAnErrorInjectedAtAFlushIsFollowedByNothingUntilSync(t *testing.T) {
	for _, open := range []bool{false, true} {
		s := newStage(t, &recorder{act: func(_ context.Context, step *pgwire.Step) pgwire.Action {
			if step.Kind == pgwire.Flushed {
				return pgwire.Action{Verb: pgwire.Fail, Code: "40001"}
			}
			return pgwire.Action{}
		}})
		w := s.wire(t)
		status := byte('I')
		if open {
			w.send(&pgproto3.Query{String: "BEGIN"})
			w.expect("CZ")
			status = 'E'
		}
		w.send(&pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{})
		w.expect("E")
		w.send(&pgproto3.Parse{Query: "SELECT 2"}, &pgproto3.Flush{}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
		if ready := w.expect("Z").(*pgproto3.ReadyForQuery); ready.TxStatus != status {
			t.Errorf("status %c, want %c", ready.TxStatus, status)
		}
		w.send(&pgproto3.Query{String: "ROLLBACK"})
		if !open {
			w.expect("NCZ")
		} else {
			w.expect("CZ")
		}
	}
}
