package orderserver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// errNoProvider fails the action like any other refusal: the key is used up, as nobody knows when there will be one.
var errNoProvider = &idempotency.Refusal{Status: http.StatusServiceUnavailable, Code: "provider_not_configured"}

// insertCheckoutSQL is the transaction's first statement, so BEGIN travels with it.
const insertCheckoutSQL = `
INSERT INTO checkouts (execution_id, user_id, plan, amount_cents, charge_id, idem_key, operation_id)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING id`

// checkoutAnswer is what a paid plan answers.
type checkoutAnswer struct {
	CheckoutID  int64  `json:"checkout_id"`
	ExecutionID string `json:"execution_id"`
	ChargeID    string `json:"charge_id"`
	Plan        string `json:"plan"`
	AmountCents int64  `json:"amount_cents"`
}

// checkout charges first and writes afterwards, so that no transaction waits for the provider. The provider knows the
// key: a charge whose checkout could not be written is found again, not made again.
func (s *Server) checkout(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	body, err := parseCheckout(req.Body)
	if err != nil {
		return idempotency.Response{}, err
	}
	body.ExecutionID = req.ExecutionID.String()
	if body.ChargeID, err = s.provider.charge(ctx, req, body.Plan, body.AmountCents); err != nil {
		return idempotency.Response{}, err
	}
	if body.CheckoutID, err = insertCheckout(ctx, tx, req, body); err != nil {
		return idempotency.Response{}, err
	}
	resp, err := idempotency.JSON(http.StatusCreated, body)
	resp.Audit = &idempotency.AuditEntry{Action: "checkout"}
	return resp, err
}

// parseCheckout returns the answer as far as the request determines it.
func parseCheckout(body []byte) (c checkoutAnswer, err error) {
	f, err := parseFields(body, "plan", "amount_cents", noteField)
	if err != nil {
		return c, err
	}
	if c.Plan, err = f.text("plan"); err != nil {
		return c, err
	}
	c.AmountCents, err = f.positive("amount_cents")
	return c, err
}

func insertCheckout(ctx context.Context, tx idempotency.Tx, req *idempotency.Request, c checkoutAnswer) (id int64, err error) {
	err = tx.QueryRow(ctx, insertCheckoutSQL, req.ExecutionID, req.Identity.UserID, c.Plan, c.AmountCents, c.ChargeID,
		req.KeyOrNil(), req.OperationOrNil()).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("write checkout: %w", err)
	}
	return id, nil
}
