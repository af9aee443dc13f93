package orderserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Two statements, not one with a CTE: after waiting for a rival's cancellation, a single statement would still report
// the status that its snapshot saw.
const (
	cancelSQL      = `UPDATE paper_orders SET status = '` + cancelled + `' WHERE id = $1 AND user_id = $2 AND status = '` + open + `'`
	orderStatusSQL = `SELECT status FROM paper_orders WHERE id = $1 AND user_id = $2`
)

// cancelOrder cancels an open order. It needs no key: whoever comes second, or too late, is told the current status.
func cancelOrder(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	id := pathID(req, "id")
	if _, err := tx.Exec(ctx, cancelSQL, id, req.Identity.UserID); err != nil {
		return idempotency.Response{}, fmt.Errorf("cancel order %d: %w", id, err)
	}
	var status string
	err := tx.QueryRow(ctx, orderStatusSQL, id, req.Identity.UserID).Scan(&status)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return idempotency.Response{}, &idempotency.Refusal{Status: http.StatusNotFound, Code: "no_such_order"}
	case err != nil:
		return idempotency.Response{}, fmt.Errorf("read order %d: %w", id, err)
	}
	return idempotency.JSON(http.StatusOK, struct {
		OrderID int64  `json:"order_id"`
		Status  string `json:"status"`
	}{id, status})
}
