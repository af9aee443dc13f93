package orderserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// orderAnswer is what a placed order, or a closed position, answers.
type orderAnswer struct {
	OrderID     int64  `json:"order_id"`
	ExecutionID string `json:"execution_id"`
	Status      string `json:"status"`
	Symbol      string `json:"symbol"`
	Side        string `json:"side"`
	Quantity    int64  `json:"quantity"`
	Price       string `json:"price"`
	CashBalance string `json:"cash_balance"`
}

// placeOrder fills a market order, or a limit order that crosses, at the symbol's price; another limit order rests.
func placeOrder(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	o, err := parseOrder(req.Body)
	if err != nil {
		return idempotency.Response{}, err
	}
	var balance string
	if o.State == filled {
		balance, o.ID, err = moveCash(ctx, tx, req.Identity.UserID, o.amount())
	} else {
		balance, o.ID, err = restOrder(ctx, tx, req.Identity.UserID)
	}
	if err != nil {
		return idempotency.Response{}, err
	}
	switch {
	case o.State != filled:
	case o.Side == buy:
		queueAddPosition(req, o.Symbol, o.Quantity)
	default:
		queueTakePosition(req, o.Symbol, o.Quantity)
	}
	queueOrder(req, o)
	return orderPlaced(req, o, balance, "order_placed")
}

// parseOrder checks the fields in the order in which it names them, so that a body with two faults has one answer.
func parseOrder(body []byte) (o order, err error) {
	f, err := parseFields(body, "symbol", "side", "quantity", "type", "limit_price", noteField)
	if err != nil {
		return o, err
	}
	o = order{Leg: 1, State: filled}
	if o.Symbol, err = f.symbol("symbol"); err != nil {
		return o, err
	}
	if o.Side, err = f.oneOf("side", buy, sell); err != nil {
		return o, err
	}
	if o.Quantity, err = f.positive("quantity"); err != nil {
		return o, err
	}
	if o.Type, err = f.oneOf("type", market, limit); err != nil {
		return o, err
	}
	o.Price = priceOf(o.Symbol)
	if o.Type == limit {
		return o.atLimit(f)
	}
	if f.has("limit_price") {
		return o, fieldRefusal("invalid_field", "limit_price")
	}
	return o, nil
}

// atLimit fills at the market's price if the limit allows, and else leaves the order open at its own.
func (o order) atLimit(f fields) (order, error) {
	at, err := f.price("limit_price")
	if err != nil {
		return o, err
	}
	if (o.Side == buy && at < o.Price) || (o.Side == sell && at > o.Price) {
		o.State, o.Price = open, at
	}
	return o, nil
}

// restOrderSQL reserves an id as moveCash does. A resting order holds no cash: it is checked when it fills.
const restOrderSQL = `SELECT cash_balance::text, nextval('paper_orders_id_seq') FROM accounts WHERE user_id = $1`

func restOrder(ctx context.Context, tx idempotency.Tx, user *int32) (balance string, orderID int64, err error) {
	err = tx.QueryRow(ctx, restOrderSQL, user).Scan(&balance, &orderID)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", 0, errInsufficientCash
	}
	if err != nil {
		return "", 0, fmt.Errorf("read account: %w", err)
	}
	return balance, orderID, nil
}

// orderPlaced is the answer to both an order and a closed position. Decimals are strings, to survive any JSON reader.
func orderPlaced(req *idempotency.Request, o order, balance, action string) (idempotency.Response, error) {
	resp, err := idempotency.JSON(http.StatusCreated, orderAnswer{
		OrderID: o.ID, ExecutionID: req.ExecutionID.String(), Status: o.State, Symbol: o.Symbol, Side: o.Side,
		Quantity: o.Quantity, Price: o.Price.String(), CashBalance: balance,
	})
	resp.Audit = &idempotency.AuditEntry{Action: action}
	return resp, err
}

// knownOrderType refuses an order type that the paper engine does not know before any claim (contract section 3). A
// type that is missing or no string is a field error, and the handler's.
func knownOrderType(req *idempotency.Request) *idempotency.Response {
	var body map[string]json.RawMessage
	var kind *string
	if json.Unmarshal(req.Body, &body) != nil || json.Unmarshal(body["type"], &kind) != nil || kind == nil {
		return nil
	}
	if *kind == market || *kind == limit {
		return nil
	}
	resp := (&idempotency.Refusal{Status: http.StatusBadRequest, Code: "unknown_order_type", Field: "type"}).Response()
	return &resp
}
