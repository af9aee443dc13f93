// Command orders is a small order service as somebody else might have written it, with its own tables and variables: in several ways that are
// right, and in one that is not.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type service struct {
	pool  *pgxpool.Pool
	place func(ctx context.Context, key string, o order) (status int, answer string, err error)
	mu    sync.Mutex // held while one-by-one places an order
}

type order struct {
	Item      string `json:"item"`
	Quantity  int    `json:"quantity"`
	Reference string `json:"reference"`
}

const (
	findSQL     = `SELECT id FROM shop_orders WHERE request_key = $1`
	insertSQL   = `INSERT INTO shop_orders (request_key, reference, item, quantity) VALUES ($1, $2, $3, $4) RETURNING id`
	claimSQL    = `INSERT INTO claims (request_key, item) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	completeSQL = `UPDATE claims SET order_id = $2 WHERE request_key = $1`
	claimedSQL  = `SELECT item, order_id FROM claims WHERE request_key = $1`
)

func main() {
	mode := flag.String("mode", "transaction", "check-then-insert, one-by-one, claim-first, complete-late or transaction")
	simple := flag.Bool("simple", false, "use the simple protocol")
	busy := flag.Bool("busy", false, "have jobs of its own beside requests")
	flag.Parse()
	if err := run(*mode, *simple, *busy); err != nil {
		log.Fatal(err)
	}
}

func run(mode string, simple, busy bool) error {
	config, err := pgxpool.ParseConfig(os.Getenv("SHOP_DATABASE"))
	if err != nil {
		return err
	}
	if simple {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	}
	if busy { // a pool that sets up and looks after each connection
		config.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
			_, err := conn.Exec(ctx, "SET statement_timeout = '30s'")
			if err == nil {
				_, err = conn.Exec(ctx, "SELECT 1")
			}
			return err == nil, err
		}
	}
	s := &service{}
	if s.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return err
	}
	s.place = map[string]func(context.Context, string, order) (int, string, error){
		"check-then-insert": s.checkThenInsert, "one-by-one": s.oneByOne, "claim-first": s.claimFirst, "complete-late": s.completeLate,
		"transaction": s.inTransaction,
	}[mode]
	if busy {
		go s.beat()
	}
	http.HandleFunc("POST /orders", s.order)
	http.HandleFunc("GET /up", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "up") })
	return http.ListenAndServe("127.0.0.1:"+os.Getenv("SHOP_PORT"), nil)
}

// beat is a job: it would come between any two statements of a request.
func (s *service) beat() {
	for range time.Tick(40 * time.Millisecond) {
		_, _ = s.pool.Exec(context.Background(), "UPDATE heartbeat SET at = now()")
	}
}

func (s *service) order(w http.ResponseWriter, r *http.Request) {
	var o order
	key := strings.Trim(r.Header.Get("X-Request-Key"), `"`)
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || key == "" || r.Header.Get("X-Tenant") != "acme" {
		http.Error(w, "a key, a tenant and an order, please", http.StatusBadRequest)
		return
	}
	status, answer, err := s.place(r.Context(), key, o)
	if err != nil {
		log.Println(err)
		status, answer = http.StatusInternalServerError, "sorry"
	}
	w.WriteHeader(status)
	fmt.Fprintln(w, answer)
}

// checkThenInsert is wrong: two requests may both find nothing.
func (s *service) checkThenInsert(ctx context.Context, key string, o order) (int, string, error) {
	var id int64
	err := s.pool.QueryRow(ctx, findSQL, key).Scan(&id)
	if err == nil {
		return http.StatusOK, fmt.Sprint(id), nil
	}
	if err != pgx.ErrNoRows {
		return 0, "", err
	}
	err = s.pool.QueryRow(ctx, insertSQL, key, o.Reference, o.Item, o.Quantity).Scan(&id)
	return http.StatusCreated, fmt.Sprint(id), err
}

// oneByOne is right in one process: a lock in its memory keeps requests apart, and not those of another process.
func (s *service) oneByOne(ctx context.Context, key string, o order) (int, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkThenInsert(ctx, key, o)
}

// claimFirst commits its claim, so that a duplicate is told at once to come again.
func (s *service) claimFirst(ctx context.Context, key string, o order) (int, string, error) {
	tag, err := s.pool.Exec(ctx, claimSQL, key, o.Item)
	if err != nil {
		return 0, "", err
	}
	if tag.RowsAffected() == 0 {
		return s.again(ctx, s.pool, key, o)
	}
	var id int64
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, insertSQL, key, o.Reference, o.Item, o.Quantity).Scan(&id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, completeSQL, key, id)
		return err
	})
	return http.StatusCreated, fmt.Sprint(id), err
}

// completeLate completes its claim when it has answered, so that a duplicate is told to come again for a moment longer.
func (s *service) completeLate(ctx context.Context, key string, o order) (int, string, error) {
	tag, err := s.pool.Exec(ctx, claimSQL, key, o.Item)
	if err != nil {
		return 0, "", err
	}
	if tag.RowsAffected() == 0 {
		return s.again(ctx, s.pool, key, o)
	}
	var id int64
	if err := s.pool.QueryRow(ctx, insertSQL, key, o.Reference, o.Item, o.Quantity).Scan(&id); err != nil {
		return 0, "", err
	}
	time.AfterFunc(30*time.Millisecond, func() {
		if _, err := s.pool.Exec(context.Background(), completeSQL, key, id); err != nil {
			log.Println(err)
		}
	})
	return http.StatusCreated, fmt.Sprint(id), nil
}

// inTransaction claims and acts in one transaction, so that a duplicate waits for its end.
func (s *service) inTransaction(ctx context.Context, key string, o order) (status int, answer string, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, claimSQL, key, o.Item)
		if err == nil && tag.RowsAffected() == 0 {
			status, answer, err = s.again(ctx, tx, key, o)
			return err
		}
		var id int64
		if err == nil {
			err = tx.QueryRow(ctx, insertSQL, key, o.Reference, o.Item, o.Quantity).Scan(&id)
		}
		if err == nil {
			_, err = tx.Exec(ctx, completeSQL, key, id)
		}
		status, answer = http.StatusCreated, fmt.Sprint(id)
		return err
	})
	return status, answer, err
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// again answers who comes with a key that is taken.
func (s *service) again(ctx context.Context, q querier, key string, o order) (int, string, error) {
	var item string
	var id *int64
	switch err := q.QueryRow(ctx, claimedSQL, key).Scan(&item, &id); {
	case err != nil:
		return 0, "", err
	case item != o.Item:
		return http.StatusUnprocessableEntity, "the key was used for something else", nil
	case id == nil:
		return http.StatusConflict, "still at it", nil
	}
	return http.StatusOK, fmt.Sprint(*id), nil
}
