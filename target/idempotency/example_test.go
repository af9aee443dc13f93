package idempotency_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// A service with one route that greets at most once a key. It needs the table of contract section 2 and nothing else
// of this project; here it keeps no audit log.
func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	parts := idempotency.Reference(pool, pool, 30*time.Second)
	parts.Auditor = idempotency.NoAudit{}
	middleware, err := idempotency.New(parts, idempotency.Options{
		Identify: func(ctx context.Context, r *http.Request) (idempotency.Identity, error) {
			user := int32(1) // look the session up here
			return idempotency.Identity{UserID: &user}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	mux := http.NewServeMux()
	mux.Handle("POST /greetings", middleware.Handler(idempotency.Route{
		Endpoint: "POST /greetings",
		Tier:     idempotency.FailClosed,
		TTL:      24 * time.Hour,
		Body:     idempotency.JSONObject,
		Action: func(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
			if _, err := tx.Exec(ctx, "INSERT INTO effects (note) VALUES ($1)", "hello"); err != nil {
				return idempotency.Response{}, err
			}
			return idempotency.JSON(http.StatusCreated, map[string]string{"greeting": "hello"})
		},
	}))

	for range 2 {
		r := httptest.NewRequest("POST", "/greetings", strings.NewReader(`{}`))
		r.Header.Set("Idempotency-Key", "0f8fad5b-d9cb-469f-a165-70867728950e")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 201 {"greeting":"hello"}
	// 201 {"idempotency_replayed": true, "greeting": "hello"}
}
