package orderserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Bounds that keep any amount within NUMERIC(18,2), and any text within reason.
const (
	maxQuantity = 1_000_000_000
	maxText     = 200
)

var (
	symbolForm  = regexp.MustCompile(`^[A-Z0-9.-]{1,12}$`)
	integerForm = regexp.MustCompile(`^[1-9][0-9]{0,17}$`)
)

// fields are the members of a request body, read strictly: names are case-sensitive, and a field that the route does
// not know is refused rather than dropped, as it may be the misspelled one that mattered.
type fields map[string]json.RawMessage

// noteField is a field of any form that every trading route takes and ignores.
const noteField = "client_note"

// parseFields names the first unknown field in alphabetical order, so that the answer does not change from run to run.
func parseFields(body []byte, known ...string) (fields, error) {
	f := fields{}
	if len(body) == 0 {
		return f, nil
	}
	if err := json.Unmarshal(body, &f); err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(known, name) {
			return nil, fieldRefusal("unknown_field", name)
		}
	}
	return f, nil
}

func fieldRefusal(code, name string) error {
	return &idempotency.Refusal{Status: http.StatusBadRequest, Code: code, Field: name}
}

// has reports whether an optional field is given; null is as good as absent.
func (f fields) has(name string) bool {
	raw, ok := f[name]
	return ok && string(raw) != "null"
}

// text reads a required string without control characters.
func (f fields) text(name string) (string, error) {
	raw, ok := f[name]
	if !ok {
		return "", fieldRefusal("missing_field", name)
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil || *s == "" || len(*s) > maxText || strings.ContainsFunc(*s, isControl) {
		return "", fieldRefusal("invalid_field", name)
	}
	return *s, nil
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7F }

// symbol reads a required ticker symbol.
func (f fields) symbol(name string) (string, error) {
	s, err := f.text(name)
	if err == nil && !symbolForm.MatchString(s) {
		err = fieldRefusal("invalid_field", name)
	}
	return s, err
}

// oneOf reads a required string out of a few.
func (f fields) oneOf(name string, choices ...string) (string, error) {
	s, err := f.text(name)
	if err == nil && !slices.Contains(choices, s) {
		err = fieldRefusal("invalid_field", name)
	}
	return s, err
}

// email reads a required address. Whether it exists shows when mail is sent; here it only has to look like one.
func (f fields) email(name string) (string, error) {
	s, err := f.text(name)
	if err == nil && strings.Count(s, "@") != 1 {
		err = fieldRefusal("invalid_field", name)
	}
	return s, err
}

// positive reads a required positive integer that is written as one: 3, not 3.0.
func (f fields) positive(name string) (int64, error) {
	raw, ok := f[name]
	if !ok {
		return 0, fieldRefusal("missing_field", name)
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if !integerForm.Match(raw) || err != nil || n > maxQuantity {
		return 0, fieldRefusal("invalid_field", name)
	}
	return n, nil
}

// price reads a required positive decimal in a string, with at most two places.
func (f fields) price(name string) (cents, error) {
	s, err := f.text(name)
	if err != nil {
		return 0, err
	}
	c, ok := parseCents(s)
	if !ok || c == 0 {
		return 0, fieldRefusal("invalid_field", name)
	}
	return c, nil
}

// pathID reads a path parameter; what is no id names nothing, which is how the caller answers it.
func pathID(req *idempotency.Request, name string) int64 {
	id, err := strconv.ParseInt(req.HTTP.PathValue(name), 10, 64)
	if err != nil {
		return -1
	}
	return id
}
