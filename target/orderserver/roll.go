package orderserver

import (
	"context"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// rollAnswer names both legs; they share one execution.
type rollAnswer struct {
	ExecutionID string      `json:"execution_id"`
	CashBalance string      `json:"cash_balance"`
	Legs        []legAnswer `json:"legs"`
}

// legAnswer is one of them: 1 closes, 2 opens.
type legAnswer struct {
	OrderID  int64  `json:"order_id"`
	Leg      int    `json:"leg"`
	Symbol   string `json:"symbol"`
	Side     string `json:"side"`
	Quantity int64  `json:"quantity"`
	Price    string `json:"price"`
}

// rollPosition closes a position and opens one in another symbol, by default of the same quantity: both legs or neither.
func rollPosition(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	out, err := parseRoll(req.Body)
	if err != nil {
		return idempotency.Response{}, err
	}
	position := pathID(req, "position_id")
	in, err := holdPosition(ctx, tx, req, position)
	if err != nil {
		return idempotency.Response{}, err
	}
	if out.Quantity == 0 {
		out.Quantity = in.Quantity
	}
	// One movement of the difference: a roll needs cash for what it costs more, not for the whole second leg.
	balance, secondID, err := moveCash(ctx, tx, req.Identity.UserID, in.amount()+out.amount())
	if err != nil {
		return idempotency.Response{}, err
	}
	out.ID = secondID
	queueDropPosition(req, position)
	queueAddPosition(req, out.Symbol, out.Quantity)
	queueOrder(req, in)
	queueOrder(req, out)
	return rolled(req, balance, in, out)
}

// parseRoll returns the opening leg; its quantity is 0 when the body names none.
func parseRoll(body []byte) (order, error) {
	o := order{Leg: 2, Side: buy, Type: market, State: filled}
	f, err := parseFields(body, "symbol", "quantity", noteField)
	if err != nil {
		return o, err
	}
	if o.Symbol, err = f.symbol("symbol"); err != nil {
		return o, err
	}
	if f.has("quantity") {
		if o.Quantity, err = f.positive("quantity"); err != nil {
			return o, err
		}
	}
	o.Price = priceOf(o.Symbol)
	return o, nil
}

// rolled keeps the legs in their order.
func rolled(req *idempotency.Request, balance string, legs ...order) (idempotency.Response, error) {
	body := rollAnswer{ExecutionID: req.ExecutionID.String(), CashBalance: balance}
	for _, o := range legs {
		body.Legs = append(body.Legs, legAnswer{
			OrderID: o.ID, Leg: o.Leg, Symbol: o.Symbol, Side: o.Side, Quantity: o.Quantity, Price: o.Price.String(),
		})
	}
	resp, err := idempotency.JSON(http.StatusCreated, body)
	resp.Audit = &idempotency.AuditEntry{Action: "position_rolled"}
	return resp, err
}
