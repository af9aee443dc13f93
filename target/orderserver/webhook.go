package orderserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// processEventSQL remembers the event; that it was new is the row count.
const processEventSQL = `INSERT INTO provider_events (event_id, event_type) VALUES ($1, $2) ON CONFLICT DO NOTHING`

// receiveEvent processes a provider's event once, by the event's own id.
func receiveEvent(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	id, kind, err := parseEvent(req.Body)
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

// parseEvent lets fields pass that it does not know: they are the provider's business, which adds some without asking.
func parseEvent(body []byte) (id, kind string, err error) {
	f := fields{}
	if err := json.Unmarshal(body, &f); err != nil {
		return "", "", fmt.Errorf("decode event: %w", err)
	}
	if id, err = f.text("event_id"); err != nil {
		return "", "", err
	}
	kind, err = f.text("type")
	return id, kind, err
}
