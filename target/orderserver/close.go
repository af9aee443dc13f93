package orderserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// holdPositionSQL locks account and position in that order, and reserves an order id.
const holdPositionSQL = `
SELECT p.symbol, p.quantity, nextval('paper_orders_id_seq')
FROM accounts a JOIN positions p ON p.user_id = a.user_id
WHERE a.user_id = $1 AND p.id = $2 AND p.quantity > 0
FOR UPDATE OF a, p`

// closePosition sells the whole of a position. One that is not there, or not the caller's, is an error.
func closePosition(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	if _, err := parseFields(req.Body, noteField); err != nil {
		return idempotency.Response{}, err
	}
	position := pathID(req, "id")
	o, err := holdPosition(ctx, tx, req, position)
	if err != nil {
		return idempotency.Response{}, err
	}
	balance, _, err := moveCash(ctx, tx, req.Identity.UserID, o.amount())
	if err != nil {
		return idempotency.Response{}, err
	}
	queueDropPosition(req, position)
	queueOrder(req, o)
	return orderPlaced(req, o, balance, "position_closed")
}

// holdPosition returns the order that would close the position.
func holdPosition(ctx context.Context, tx idempotency.Tx, req *idempotency.Request, id int64) (order, error) {
	o := order{Leg: 1, Side: sell, Type: market, State: filled}
	err := tx.QueryRow(ctx, holdPositionSQL, req.Identity.UserID, id).Scan(&o.Symbol, &o.Quantity, &o.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, errNoSuchPosition
	}
	if err != nil {
		return o, fmt.Errorf("hold position %d: %w", id, err)
	}
	o.Price = priceOf(o.Symbol)
	return o, nil
}
