package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Outcome is the judged end of a schedule. Equal outcomes are counted together.
type Outcome struct {
	Executions int         `json:"executions"`
	Answers    []string    `json:"answers"` // classes, sorted
	Record     string      `json:"record"`  // status of the key's record: "none", "completed", …
	Violated   []Violation `json:"violated,omitempty"`
	Rows       []Row       `json:"rows,omitempty"` // what was read for the key
}

// Violation is one broken invariant of contract section 8.
type Violation struct {
	Invariant string `json:"invariant"`
	Sentence  string `json:"sentence"`
}

// Row is one row as text, for people.
type Row struct {
	Table string `json:"table"`
	Text  string `json:"text"`
}

// Signature is what makes two outcomes equal.
func (o Outcome) Signature() string {
	names := make([]string, 0, len(o.Violated)+1)
	if len(o.Violated) == 0 {
		names = append(names, "nothing")
	}
	for _, v := range o.Violated {
		names = append(names, v.Invariant)
	}
	return fmt.Sprintf("executions %d; answers %s; record %s; violated %s", o.Executions, strings.Join(o.Answers, " "), o.Record, strings.Join(names, " "))
}

// Violates tells whether an outcome breaks an invariant.
func (o Outcome) Violates(invariant string) bool {
	return slices.ContainsFunc(o.Violated, func(v Violation) bool { return v.Invariant == invariant })
}
