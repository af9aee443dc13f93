package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/migrations"
	"github.com/idemstorm/idemstorm/target/idempotency"
)

// dsn is a migrated database with one user, shared by the tests of the package: each uses keys of its own.
var dsn string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx := context.Background()
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{Fast: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start PostgreSQL:", err)
		return 1
	}
	defer func() { _ = cluster.Stop() }() // it removes what it can, and there is nothing else to do
	dsn = cluster.DSN("postgres")
	if err := prepare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "prepare database:", err)
		return 1
	}
	return m.Run()
}

func prepare(ctx context.Context) error {
	if _, err := migrations.Up(ctx, dsn); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `INSERT INTO users (email) VALUES ('a@b.test'); CREATE TABLE effects (note TEXT)`)
	return errors.Join(err, conn.Close(ctx))
}

const noteSQL = `INSERT INTO effects (note) VALUES ($1)`

// note writes an effect that the tests can count, and answers 201.
func note(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	if _, err := tx.Exec(ctx, noteSQL, req.Key); err != nil {
		return idempotency.Response{}, err
	}
	return idempotency.JSON(http.StatusCreated, map[string]int{"n": 1})
}

type service struct {
	t       *testing.T
	pool    *pgxpool.Pool
	handler http.Handler
}

func newService(t *testing.T, change func(*idempotency.Parts), action idempotency.Action) *service {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	parts := idempotency.Reference(pool, pool, 0)
	parts.Auditor = idempotency.NoAudit{}
	if change != nil {
		change(&parts)
	}
	mw, err := idempotency.New(parts, idempotency.Options{Identify: firstUser})
	if err != nil {
		t.Fatal(err)
	}
	route := idempotency.Route{Endpoint: "POST /notes", Tier: idempotency.FailClosed, TTL: idempotency.MaxTTL, Action: action}
	return &service{t, pool, mw.Handler(route)}
}

func firstUser(context.Context, *http.Request) (idempotency.Identity, error) {
	id := int32(1)
	return idempotency.Identity{UserID: &id}, nil
}

func (s *service) post(key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/notes", strings.NewReader("hello"))
	r.Header.Set(idempotency.KeyHeader, key)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *service) want(w *httptest.ResponseRecorder, status int, body string) {
	s.t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), body) {
		s.t.Fatalf("answer %d %s, want %d %s", w.Code, w.Body, status, body)
	}
}

func (s *service) wantEffects(key string, want int) {
	s.t.Helper()
	var n int
	if err := s.pool.QueryRow(s.t.Context(), `SELECT count(*) FROM effects WHERE note = $1`, key).Scan(&n); err != nil || n != want {
		s.t.Fatalf("%d effects, %v; want %d", n, err, want)
	}
}

func TestActionThatFailsLeavesNothingButAFailedRecord(t *testing.T) {
	for name, c := range map[string]struct {
		after  func() (idempotency.Response, error)
		status int
		body   string
	}{
		"panic": {func() (idempotency.Response, error) { panic("boom") }, 500, "internal_error"},
		"error": {func() (idempotency.Response, error) { return idempotency.Response{}, errors.New("boom") }, 503, "database_unavailable"},
		"refusal": {func() (idempotency.Response, error) {
			return idempotency.Response{}, &idempotency.Refusal{Status: 404, Code: "gone"}
		}, 404, "gone"},
		"answer": {func() (idempotency.Response, error) { return idempotency.JSON(500, "sorry") }, 500, "sorry"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, nil, func(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
				if resp, err := note(ctx, tx, req); err != nil {
					return resp, err
				}
				return c.after()
			})
			key := uuid.NewString()
			s.want(s.post(key), c.status, c.body)
			s.want(s.post(key), 409, "idempotency_previous_failed")
			s.wantEffects(key, 0)
		})
	}
}

func TestBodyThatLooksLikeACredentialIsReplayedWithoutIt(t *testing.T) {
	s := newService(t, nil, func(context.Context, idempotency.Tx, *idempotency.Request) (idempotency.Response, error) {
		return idempotency.JSON(201, map[string]string{"access_token": "abc"})
	})
	key := uuid.NewString()
	s.want(s.post(key), 201, "abc")
	w := s.post(key)
	s.want(w, 201, `{"idempotency_replayed": true}`)
	if strings.Contains(w.Body.String(), "abc") {
		t.Fatal("the credential was stored")
	}
}

// heldClaimer keeps the claim's transaction open for the action, as strategies do whose losers wait.
type heldClaimer struct {
	idempotency.Claimer
	pool     *pgxpool.Pool
	released int
}

func (c *heldClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	claim, err := c.Claimer.Claim(ctx, req)
	if err != nil || claim == nil {
		return nil, err
	}
	if claim.Tx, err = c.pool.Begin(ctx); err != nil {
		return nil, err
	}
	claim.Release = func() { c.released++ }
	return claim, nil
}

func TestClaimMayBringTheTransactionOfTheAction(t *testing.T) {
	var claimer *heldClaimer
	s := newService(t, func(p *idempotency.Parts) {
		claimer = &heldClaimer{Claimer: p.Claimer, pool: p.Executor.(*idempotency.TxExecutor).Pool}
		p.Claimer = claimer
	}, note)
	key := uuid.NewString()
	s.want(s.post(key), 201, `"n":1`)
	s.want(s.post(key), 201, "idempotency_replayed")
	s.wantEffects(key, 1)
	if claimer.released != 1 {
		t.Fatalf("released %d times, want once", claimer.released)
	}
}

// otherCompleter ends claims of its own kind.
type otherCompleter struct{ completed, failed int }

func (c *otherCompleter) Complete(*pgx.Batch, *idempotency.Claim, *idempotency.Request, *idempotency.Response) {
	c.completed++
}

func (c *otherCompleter) Fail(context.Context, *idempotency.Claim, *idempotency.Response) error {
	c.failed++
	return nil
}

// memoryClaimer claims without a row.
type memoryClaimer struct {
	idempotency.Claimer
	completer *otherCompleter
}

func (c memoryClaimer) Claim(context.Context, *idempotency.Request) (*idempotency.Claim, error) {
	return &idempotency.Claim{Completer: c.completer}, nil
}

func TestClaimMayBringItsOwnCompleter(t *testing.T) {
	completer := &otherCompleter{}
	s := newService(t, func(p *idempotency.Parts) { p.Claimer = memoryClaimer{p.Claimer, completer} }, note)
	key := uuid.NewString()
	s.want(s.post(key), 201, "")
	s.wantEffects(key, 1)
	if completer.completed != 1 || completer.failed != 0 {
		t.Fatalf("completer was called %+v", completer)
	}
}

// lostClaimer never wins and never finds.
type lostClaimer struct {
	idempotency.Claimer
	claims int
}

func (c *lostClaimer) Claim(context.Context, *idempotency.Request) (*idempotency.Claim, error) {
	c.claims++
	return nil, nil
}

func (c *lostClaimer) Read(context.Context, *idempotency.Request, idempotency.Auditor) (*idempotency.Record, error) {
	return nil, nil
}

func TestLoserWithoutARecordClaimsAgainWithinABound(t *testing.T) {
	lost := &lostClaimer{}
	s := newService(t, func(p *idempotency.Parts) { p.Claimer = lost }, note)
	key := uuid.NewString()
	s.want(s.post(key), 409, "idempotency_in_flight")
	s.wantEffects(key, 0)
	if lost.claims < 2 || lost.claims > 10 {
		t.Fatalf("%d claims", lost.claims)
	}
}

func TestMissingPartsAndBrokenRoutesAreRefused(t *testing.T) {
	if _, err := idempotency.New(idempotency.Parts{}, idempotency.Options{Identify: firstUser}); err == nil {
		t.Error("a middleware without parts was made")
	}
	parts := idempotency.Reference(nil, nil, 0)
	if _, err := idempotency.New(parts, idempotency.Options{}); err == nil {
		t.Error("a middleware without Identify was made")
	}
	mw, err := idempotency.New(parts, idempotency.Options{Identify: firstUser})
	if err != nil {
		t.Fatal(err)
	}
	for name, route := range map[string]idempotency.Route{
		"no endpoint": {Action: note},
		"no action":   {Endpoint: "POST /x"},
		"long TTL":    {Endpoint: "POST /x", Action: note, Tier: idempotency.FailClosed, TTL: idempotency.MaxTTL + 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			mw.Handler(route)
		}()
	}
}
