package idemtest

import (
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

// table gathers those rows of a query that a key or token of the run names.
type table struct {
	columns  []string
	name, id int // columns; -1 is none
	asked    map[string]bool
	read     int
	found    []execution
}

func newTable(columns []string, a harness.Asked) (*table, error) {
	t := &table{columns: columns, name: slices.Index(columns, "key"), id: slices.Index(columns, "id"), asked: map[string]bool{}}
	names := a.Keys
	if t.name < 0 {
		t.name, names = slices.Index(columns, "token"), a.Tokens
	}
	if t.name < 0 {
		return t, fmt.Errorf("%w has the columns %s; name one of them key, as in SELECT id, idem_key AS key FROM orders, or token if it holds what {{unique}} was",
			evidence.ErrQuery, strings.Join(columns, ", "))
	}
	for _, name := range names {
		t.asked[name] = true
	}
	return t, nil
}

// add keeps a row that is asked for. Some services store keys with their quotation marks.
func (t *table) add(values []any) {
	t.read++
	name := strings.Trim(text(values[t.name]), `"`)
	if !t.asked[name] {
		return
	}
	e := execution{ID: strconv.Itoa(t.read), Name: name, Columns: map[string]string{}}
	for i, column := range t.columns {
		e.Columns[column] = text(values[i])
	}
	if t.id >= 0 {
		e.ID = text(values[t.id])
	}
	t.found = append(t.found, e)
}

// text is a value as drivers give it, for people and for comparison with a key.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		if utf8.Valid(v) {
			return string(v)
		}
		return hex.EncodeToString(v)
	case [16]byte: // uuid, by pgx
		return uuid.UUID(v).String()
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case driver.Valuer:
		if plain, err := v.Value(); err == nil && plain != value {
			return text(plain)
		}
	case map[string]any, []any:
		if data, err := json.Marshal(v); err == nil {
			return string(data)
		}
	}
	return fmt.Sprint(value)
}
