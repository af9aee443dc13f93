package orderserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// updateUserSQL leaves alone what is not given.
const updateUserSQL = `
UPDATE users SET email = COALESCE($2, email), name = COALESCE($3, name), phone = COALESCE($4, phone)
WHERE id = $1
RETURNING id, email, name, phone`

// accountAnswer is personal data: its route never stores it.
type accountAnswer struct {
	ID    int32  `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	Phone string `json:"phone"`
}

// updateAccount sets what the body names; setting it again changes nothing, so that a retry may run it again.
func updateAccount(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	email, name, phone, err := parseAccount(req.Body)
	if err != nil {
		return idempotency.Response{}, err
	}
	var a accountAnswer
	err = tx.QueryRow(ctx, updateUserSQL, req.Identity.UserID, email, name, phone).Scan(&a.ID, &a.Email, &a.Name, &a.Phone)
	var pgErr *pgconn.PgError
	switch {
	case errors.As(err, &pgErr) && pgErr.Code == "23505":
		return idempotency.Response{}, &idempotency.Refusal{Status: http.StatusUnprocessableEntity, Code: "email_taken", Field: "email"}
	case err != nil:
		return idempotency.Response{}, fmt.Errorf("update user: %w", err)
	}
	resp, err := idempotency.JSON(http.StatusOK, a)
	resp.Audit = &idempotency.AuditEntry{Action: "account_update"}
	return resp, err
}

// parseAccount returns nil for what the body does not set.
func parseAccount(body []byte) (email, name, phone *string, err error) {
	f, err := parseFields(body, "email", "name", "phone", noteField)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, want := range []struct {
		name string
		read func(string) (string, error)
		into **string
	}{{"email", f.email, &email}, {"name", f.text, &name}, {"phone", f.text, &phone}} {
		if !f.has(want.name) {
			continue
		}
		value, err := want.read(want.name)
		if err != nil {
			return nil, nil, nil, err
		}
		*want.into = &value
	}
	return email, name, phone, nil
}
