package orderserver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// signupSQL names the constraint that it forgives; any other conflict is an error.
const signupSQL = `INSERT INTO waitlist_signups (email) VALUES ($1) ON CONFLICT ((lower(email))) DO NOTHING`

// signUp has a natural key, the address: it answers 202 both times, and does not say which time it was.
func signUp(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	f, err := parseFields(req.Body, "email", noteField)
	if err != nil {
		return idempotency.Response{}, err
	}
	email, err := f.email("email")
	if err != nil {
		return idempotency.Response{}, err
	}
	if _, err := tx.Exec(ctx, signupSQL, email); err != nil {
		return idempotency.Response{}, fmt.Errorf("sign up: %w", err)
	}
	return idempotency.JSON(http.StatusAccepted, map[string]string{"status": "accepted"})
}
