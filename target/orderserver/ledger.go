package orderserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// What the ledger refuses. An account that is gone has no cash: erasure looks like poverty to an order in progress.
var (
	errInsufficientCash     = &idempotency.Refusal{Status: http.StatusPaymentRequired, Code: "insufficient_cash"}
	errInsufficientPosition = &idempotency.Refusal{Status: http.StatusUnprocessableEntity, Code: "insufficient_position"}
	errNoSuchPosition       = &idempotency.Refusal{Status: http.StatusNotFound, Code: "no_such_position"}
)

// The values of paper_orders' columns side, order_type and status.
const (
	buy, sell               = "buy", "sell"
	market, limit           = "market", "limit"
	filled, open, cancelled = "filled", "open", "cancelled"
)

// order is a row of paper_orders, less what the request says of itself.
type order struct {
	ID                        int64
	Leg                       int
	Symbol, Side, Type, State string
	Quantity                  int64
	Price                     cents
}

// amount is the signed effect on cash.
func (o order) amount() cents {
	switch {
	case o.State != filled:
		return 0
	case o.Side == buy:
		return -o.Price * cents(o.Quantity)
	}
	return o.Price * cents(o.Quantity)
}

// moveCashSQL checks and moves in one statement: there is no gap in which another order could spend the same cash.
const moveCashSQL = `
UPDATE accounts SET cash_balance = cash_balance + $2::numeric
WHERE user_id = $1 AND cash_balance + $2::numeric >= 0
RETURNING cash_balance::text, nextval('paper_orders_id_seq')`

// moveCash changes the balance and reserves an order id in the same round trip, so that the order can be written in the
// last one, beside the completion whose stored answer names it.
func moveCash(ctx context.Context, tx idempotency.Tx, user *int32, amount cents) (balance string, orderID int64, err error) {
	err = tx.QueryRow(ctx, moveCashSQL, user, amount.String()).Scan(&balance, &orderID)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", 0, errInsufficientCash
	}
	if err != nil {
		return "", 0, fmt.Errorf("move cash: %w", err)
	}
	return balance, orderID, nil
}

const insertOrderSQL = `
INSERT INTO paper_orders (id, execution_id, leg, user_id, endpoint, idem_key, operation_id,
                          symbol, side, order_type, quantity, price, amount, status)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::numeric, $13::numeric, $14)`

// queueOrder writes the order in the transaction's last round trip.
func queueOrder(req *idempotency.Request, o order) {
	req.Later.Queue(insertOrderSQL, o.ID, req.ExecutionID, o.Leg, req.Identity.UserID, req.Route.Endpoint, req.KeyOrNil(),
		req.OperationOrNil(), o.Symbol, o.Side, o.Type, o.Quantity, o.Price.String(), o.amount().String(), o.State)
}

// The three ways in which a position changes. Each sees what rivals committed, or waits for them.
const (
	addPositionSQL = `
INSERT INTO positions (user_id, symbol, quantity) VALUES ($1, $2, $3)
ON CONFLICT (user_id, symbol) DO UPDATE SET quantity = positions.quantity + EXCLUDED.quantity`
	takePositionSQL = `
UPDATE positions SET quantity = quantity - $3 WHERE user_id = $1 AND symbol = $2 AND quantity >= $3`
	dropPositionSQL = `DELETE FROM positions WHERE id = $1 AND user_id = $2`
)

func queueAddPosition(req *idempotency.Request, symbol string, quantity int64) {
	req.Later.Queue(addPositionSQL, req.Identity.UserID, symbol, quantity)
}

func queueTakePosition(req *idempotency.Request, symbol string, quantity int64) {
	req.Later.Queue(takePositionSQL, req.Identity.UserID, symbol, quantity).Exec(oneRowOr(errInsufficientPosition))
}

func queueDropPosition(req *idempotency.Request, id int64) {
	req.Later.Queue(dropPositionSQL, id, req.Identity.UserID).Exec(oneRowOr(errNoSuchPosition))
}

// oneRowOr turns a statement that found nothing to change into a refusal, which rolls the batch back.
func oneRowOr(refusal *idempotency.Refusal) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != 1 {
			return refusal
		}
		return nil
	}
}
