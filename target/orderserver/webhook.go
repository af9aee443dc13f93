package orderserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

const processEventSQL = `INSERT INTO provider_events (event_id, event_type) VALUES ($1, $2) ON CONFLICT DO NOTHING`

// receiveEvent processes a provider's event once, by the event's own id. Fields that it does not know are the
// provider's business and pass.
func receiveEvent(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	f := fields{}
	if err := json.Unmarshal(req.Body, &f); err != nil {
		return idempotency.Response{}, fmt.Errorf("decode event: %w", err)
	}
	id, err := f.text("event_id")
	if err != nil {
		return idempotency.Response{}, err
	}
	kind, err := f.text("type")
	if err != nil {
		return idempotency.Response{}, err
	}
	tag, err := tx.Exec(ctx, processEventSQL, id, kind)
	if err != nil {
		return idempotency.Response{}, fmt.Errorf("record event: %w", err)
	}
	status := "processed"
	if tag.RowsAffected() == 0 {
		status = "already_processed"
	}
	return idempotency.JSON(http.StatusOK, map[string]string{"status": status})
}
