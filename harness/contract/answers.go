package contract

import (
	"encoding/json"
	"strings"
)

// Answer is the meaning of one HTTP answer under the contract. The zero value is an answer that the contract does not know.
type Answer string

// The answers of contract section 4. AnswerRejected is any 4xx before a claim or by the handler that is none of the others.
const (
	AnswerUnknown        Answer = ""
	AnswerFresh          Answer = "fresh"           // 2xx without the replay marker
	AnswerReplay         Answer = "replay"          // 2xx with the replay marker
	AnswerMismatch       Answer = "mismatch"        // the key was used with another request
	AnswerInFlight       Answer = "in-flight"       // the first request still runs
	AnswerPreviousFailed Answer = "previous-failed" // the first request failed
	AnswerStale          Answer = "stale"           // the first request was abandoned; its record is retired
	AnswerMalformed      Answer = "malformed"       // the key is not a UUID
	AnswerStoreDown      Answer = "store-down"      // refused because the key store is out
	AnswerGated          Answer = "gated"           // refused by a closed gate
	AnswerRejected       Answer = "rejected"        // another 4xx: the action was refused, or the request was bad
	AnswerFailed         Answer = "failed"          // another 5xx: the action failed, or its outcome is not known

	// Of a service whose answers say less than the contract's (see Service).
	AnswerDone    Answer = "done"    // 2xx, fresh or a replay
	AnswerRefused Answer = "refused" // 4xx of any kind: the action was refused, or the key is in use
)

// Final reports whether a client may stop asking after this answer: the key's fate is decided.
func (a Answer) Final() bool {
	switch a {
	case AnswerFresh, AnswerReplay, AnswerDone, AnswerMismatch, AnswerPreviousFailed, AnswerMalformed, AnswerRejected:
		return true
	}
	return false
}

// Rule recognises one answer. Empty fields match anything.
type Rule struct {
	Answer Answer `json:"answer"`
	Status int    `json:"status,omitempty"` // exact code; 0 with Class set matches the class
	Class  int    `json:"class,omitempty"`  // 2 for 2xx, and so on
	Error  string `json:"error,omitempty"`  // value of the JSON body's "error"
	Reason string `json:"reason,omitempty"` // value of the JSON body's "reason"
	Replay *bool  `json:"replay,omitempty"` // whether the replay marker header was set
}

// Classify names an answer by the first rule that matches it. marked says whether the replay marker header was present.
func (c Contract) Classify(status int, marked bool, body []byte) Answer {
	code, reason := "", ""
	if status >= 400 {
		code, reason = refusal(body)
	}
	for i := range c.Answers {
		if r := &c.Answers[i]; r.matches(status, marked, code, reason) {
			return r.Answer
		}
	}
	return AnswerUnknown
}

// refusal reads what an error says of itself. A body that is not JSON says nothing.
func refusal(body []byte) (code, reason string) {
	var fields struct{ Error, Reason string }
	_ = json.Unmarshal(body, &fields)
	return fields.Error, fields.Reason
}

func (r *Rule) matches(status int, marked bool, code, reason string) bool {
	switch {
	case r.Status != 0 && r.Status != status,
		r.Class != 0 && r.Class != status/100,
		r.Error != "" && !strings.EqualFold(r.Error, code),
		r.Reason != "" && r.Reason != reason,
		r.Replay != nil && *r.Replay != marked:
		return false
	}
	return true
}
