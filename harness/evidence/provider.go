package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What is fetched over HTTP is bounded in time and size: evidence is read at the end, when a wedged server is likely.
const (
	fetchWithin = 30 * time.Second
	fetchLimit  = 1 << 30 // bytes
)

// FromProvider reads the payment provider's ledger: GET base/v1/charges, a JSON array. An empty ledger is an empty slice.
func FromProvider(ctx context.Context, base string) ([]Charge, error) {
	body, err := fetch(ctx, strings.TrimSuffix(base, "/")+"/v1/charges")
	if err != nil {
		return nil, fmt.Errorf("read the provider's ledger: %w", err)
	}
	var lines []ledgerLine
	if err := json.Unmarshal(body, &lines); err != nil {
		return nil, fmt.Errorf("read the provider's ledger: %w", err)
	}
	charges := make([]Charge, 0, len(lines))
	for _, l := range lines {
		charges = append(charges, Charge{
			ID: string(l.ID), Key: l.Key, User: l.User.number(), AmountCents: l.AmountCents, Operation: l.Operation.number(),
		})
	}
	return charges, nil
}

// ledgerLine is a charge as the provider writes it; ids travel as strings or as numbers, depending on who sent them.
type ledgerLine struct {
	ID          loose  `json:"id"`
	Key         string `json:"key"`
	User        loose  `json:"user_id"`
	AmountCents int64  `json:"amount_cents"`
	Operation   loose  `json:"operation_id"`
}

// loose is the text of a JSON string or number.
type loose string

// UnmarshalJSON accepts a string, a number or null.
func (l *loose) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(l))
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*l = loose(n)
	return nil
}

// number is the id as a number; 0 for what is none, such as a foreign trace id.
func (l loose) number() int64 {
	n, err := strconv.ParseInt(string(l), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// fetch gets a URL; set, if any, adds headers.
func fetch(ctx context.Context, url string, set ...func(http.Header)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	for _, headers := range set {
		headers(req.Header)
	}
	req.Close = true // one look at each address; no idle connection is left behind
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, fetchLimit))
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, res.Status)
	}
	return body, nil
}
