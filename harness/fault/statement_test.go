package fault

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// onPath1 is a world of one path to the database, and a client of that path.
func onPath1(t *testing.T) (World, func() *pgx.Conn) {
	t.Helper()
	path, dsn := openPath(t, Database, 1)
	dial := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) }) // it may have been cut
		return conn
	}
	return World{Paths: []Path{path}}, dial
}

// insert commits one row in a transaction.
func insert(t *testing.T, conn *pgx.Conn, table string) error {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO "+table+" VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	return tx.Commit(t.Context())
}

func count(t *testing.T, conn *pgx.Conn, table string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestACommitWhoseAnswerIsLostHasHappened(t *testing.T) {
	w, dial := onPath1(t)
	if _, err := dial().Exec(t.Context(), "DROP TABLE IF EXISTS unheard; CREATE TABLE unheard (n int)"); err != nil {
		t.Fatal(err)
	}
	healed := struck(t, Spec{Kind: "commit-ack-lost", On: Database, Share: 0.5}, w, func() {
		lost := 0
		for range 10 {
			if insert(t, dial(), "unheard") != nil {
				lost++
			}
		}
		if lost != 5 {
			t.Errorf("%d of 10 answers were lost, want 5", lost)
		}
	})
	if healed.Bit != 5 {
		t.Errorf("it counts %d, want 5", healed.Bit)
	}
	conn := dial()
	if err := insert(t, conn, "unheard"); err != nil {
		t.Errorf("after healing: %v", err)
	}
	if n := count(t, conn, "unheard"); n != 11 {
		t.Errorf("%d rows are there, want all 11", n)
	}
}

func TestADelayedStatementIsLateAndOthersAreNot(t *testing.T) {
	w, dial := onPath1(t)
	conn := dial()
	took := func(sql string) time.Duration {
		began := time.Now()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	const delay = 700 * time.Millisecond
	struck(t, Spec{Kind: "statement-delay", On: Both, Statement: "select\\s+42", Delay: delay}, w, func() {
		if got := took("SELECT 42"); got < delay {
			t.Errorf("it took %v, want at least %v", got, delay)
		}
		if got := took("SELECT 43"); got >= delay {
			t.Errorf("another statement took %v", got)
		}
	})
	if got := took("SELECT 42"); got >= delay {
		t.Errorf("after healing it took %v", got)
	}
}

func TestJitterSpreadsWhatItDelays(t *testing.T) {
	const jitter = time.Second
	s := statementStrike{jitter: jitter}
	var quarters [4]int
	for n := range int64(100) {
		quarters[s.spread(n)*4/jitter]++
	}
	for i, n := range quarters {
		if n < 20 || n > 30 {
			t.Errorf("%d of 100 delays lie in quarter %d", n, i+1)
		}
	}
}

func TestAnInjectedErrorEndsTheTransactionForReal(t *testing.T) {
	w, dial := onPath1(t)
	conn := dial()
	if _, err := conn.Exec(t.Context(), "DROP TABLE IF EXISTS refused; CREATE TABLE refused (n int)"); err != nil {
		t.Fatal(err)
	}
	struck(t, Spec{Kind: "error-share", On: Database, Code: "40001", Statement: "values \\(2\\)"}, w, func() {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "INSERT INTO refused VALUES (1)"); err != nil {
			t.Fatal(err)
		}
		var pgErr *pgconn.PgError
		if _, err := tx.Exec(t.Context(), "INSERT INTO refused VALUES (2)"); !errors.As(err, &pgErr) || pgErr.Code != "40001" {
			t.Errorf("got %v, want 40001", err)
		}
		if err := tx.Commit(t.Context()); err == nil {
			t.Error("the transaction could be committed")
		}
	})
	if n := count(t, conn, "refused"); n != 0 {
		t.Errorf("%d rows are there, want none", n)
	}
	if err := insert(t, conn, "refused"); err != nil {
		t.Errorf("after healing: %v", err)
	}
}
