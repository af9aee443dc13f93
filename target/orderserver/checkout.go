package orderserver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var errNoProvider = &idempotency.Refusal{Status: http.StatusServiceUnavailable, Code: "provider_not_configured"}

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
	var body checkoutAnswer
	f, err := parseFields(req.Body, "plan", "amount_cents", noteField)
	if err != nil {
		return idempotency.Response{}, err
	}
	if body.Plan, err = f.text("plan"); err != nil {
		return idempotency.Response{}, err
	}
	if body.AmountCents, err = f.positive("amount_cents"); err != nil {
		return idempotency.Response{}, err
	}
	if body.ChargeID, err = s.provider.charge(ctx, req, body.Plan, body.AmountCents); err != nil {
		return idempotency.Response{}, err
	}
	err = tx.QueryRow(ctx, insertCheckoutSQL, req.ExecutionID, req.Identity.UserID, body.Plan, body.AmountCents, body.ChargeID,
		req.KeyOrNil(), req.OperationOrNil()).Scan(&body.CheckoutID)
	if err != nil {
		return idempotency.Response{}, fmt.Errorf("write checkout: %w", err)
	}
	body.ExecutionID = req.ExecutionID.String()
	resp, err := idempotency.JSON(http.StatusCreated, body)
	resp.Audit = &idempotency.AuditEntry{Action: "checkout"}
	return resp, err
}
