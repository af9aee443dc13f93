package evidence

import (
	"strconv"
	"strings"
)

// Source is one place where somebody else's executions are counted.
type Source struct {
	Name       string      `json:"name"`       // as the target file names it: executions, http, file, provider
	Executions []Execution `json:"executions"` // of the run's keys
}

// Execution is one of them.
type Execution struct {
	ID      string            `json:"id"`              // of the row, object or line
	Name    string            `json:"name"`            // what it was found by: a key, or a token
	Owner   string            `json:"owner,omitempty"` // whose it is; see Owner
	Columns map[string]string `json:"columns,omitempty"`
}

// Owner names a key of a user.
func Owner(key string, user int64) string { return strconv.FormatInt(user, 10) + " " + key }

// Naming says in which members of an object a source's names and ids are.
type Naming struct {
	List string // where the array is, as a.b; "" the whole answer
	Name string // member that holds the key or token, as a.b
	ID   string // member that names the execution; "" its place
}

// FromLedger are the provider's charges as executions.
func FromLedger(charges []Charge) []Execution {
	out := []Execution{}
	for _, c := range charges {
		out = append(out, Execution{ID: c.ID, Name: strings.Trim(c.Key, `"`), Columns: map[string]string{
			"key": c.Key, "amount_cents": strconv.FormatInt(c.AmountCents, 10),
		}})
	}
	return out
}
