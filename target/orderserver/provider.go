package orderserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var errProviderFailed = &idempotency.Refusal{Status: http.StatusBadGateway, Code: "provider_failed"}

// providerClient speaks to the payment provider; the zero base means that there is none.
type providerClient struct {
	base string
	http *http.Client
	log  *slog.Logger
}

// chargeRequest is the body of POST {base}/v1/charges.
type chargeRequest struct {
	AmountCents int64  `json:"amount_cents"`
	Plan        string `json:"plan"`
	UserID      *int32 `json:"user_id"`
	OperationID string `json:"operation_id,omitempty"`
}

// charge returns the provider's id of the charge. Whatever is not a success is a refusal, since nothing is written yet.
func (p *providerClient) charge(ctx context.Context, req *idempotency.Request, plan string, amount int64) (string, error) {
	if p.base == "" {
		return "", errNoProvider
	}
	id, err := p.post(ctx, req, chargeRequest{amount, plan, req.Identity.UserID, req.OperationID})
	if err != nil {
		p.log.Warn("charge failed", "op", req.OperationID, "err", err)
		return "", errProviderFailed
	}
	return id, nil
}

// post bounds what it reads, and takes only a 2xx that names a charge for a success.
func (p *providerClient) post(ctx context.Context, req *idempotency.Request, charge chargeRequest) (string, error) {
	body, err := json.Marshal(charge)
	if err != nil {
		return "", fmt.Errorf("encode charge: %w", err)
	}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(p.base, "/")+"/v1/charges", bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("make charge request: %w", err)
	}
	out.Header.Set("Content-Type", "application/json")
	req.Forward(out.Header)
	resp, err := p.http.Do(out)
	if err != nil {
		return "", fmt.Errorf("send charge: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end, or the connection is lost anyway
	var made struct{ ID string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, idempotency.MaxBody)).Decode(&made); err != nil {
		return "", fmt.Errorf("read charge, status %d: %w", resp.StatusCode, err)
	}
	if resp.StatusCode/100 != 2 || made.ID == "" {
		return "", fmt.Errorf("provider answered %d", resp.StatusCode)
	}
	return made.ID, nil
}
