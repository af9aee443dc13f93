package contract

import (
	"slices"
	"strconv"
)

// Situation is one row of a profile's table: what a client does with a key, and what it is answered.
type Situation string

// The situations, in the order of the tables.
const (
	FirstUse         Situation = "fresh"              // a key that nobody has used
	Repeated         Situation = "replay"             // the same request again, after the first was answered
	OtherRequest     Situation = "mismatch"           // another body under a used key
	OtherInFlight    Situation = "mismatch_in_flight" // another body while the first request still runs
	SameInFlight     Situation = "in_flight"          // the same request while the first still runs
	AfterRefusal     Situation = "after_4xx"          // the same request again, after the action was refused
	AfterFailure     Situation = "after_5xx"          // the same request again, after the action failed
	KeyMissing       Situation = "missing_key"        // no key at all
	KeyMalformed     Situation = "malformed_key"      // a key that is none
	StoreUnreachable Situation = "store_down"         // the database behind the keys cannot be reached
	OtherUser        Situation = "other_user"         // a used key, sent by somebody else
)

// Situations are all rows of a table, in order.
var Situations = []Situation{
	FirstUse, Repeated, OtherRequest, OtherInFlight, SameInFlight, AfterRefusal, AfterFailure, KeyMissing, KeyMalformed, StoreUnreachable, OtherUser,
}

// Probe is how the plan spells operations whose answer shows how a situation is treated, and First those that such a situation begins with.
func (s Situation) Probe() string { return "situation: " + string(s) }

// First see Probe.
func (s Situation) First() string { return "first: " + string(s) }

// Meaning is the situation in words.
func (s Situation) Meaning() string { return meanings[s] }

var meanings = map[Situation]string{
	FirstUse:         "a key that nobody has used",
	Repeated:         "the same request again, after the first was answered with success",
	OtherRequest:     "another body under a used key",
	OtherInFlight:    "another body while the first request still runs",
	SameInFlight:     "the same request while the first still runs",
	AfterRefusal:     "the same request again, after the action was refused with 4xx",
	AfterFailure:     "the same request again, after the action failed with 5xx",
	KeyMissing:       "no key at all",
	KeyMalformed:     "a key that is malformed",
	StoreUnreachable: "the database cannot be reached",
	OtherUser:        "a used key, sent by another user",
}

// Treatment is how a server treats a request. The zero value says that it is not stated, and then nothing is judged.
type Treatment string

// The treatments.
const (
	Unstated Treatment = ""
	Executes Treatment = "executes" // as a request under a key of its own
	Replays  Treatment = "replays"  // the first answer again, status and body
	Refuses  Treatment = "refuses"  // one of the statuses, and nothing is executed
	Waits    Treatment = "waits"    // for the first request to end, and then as if it had come later
)

// Promise is what a contract says about one situation.
type Promise struct {
	Situation Situation `json:"situation"`
	Does      Treatment `json:"does,omitempty"`
	Status    []int     `json:"status,omitempty"` // that the answer may have; none: any 2xx where it executes, that of the first answer where it replays
	Code      string    `json:"code,omitempty"`   // of a refusal: the JSON member "error"; "" is not looked at
	Source    string    `json:"-"`                // where the profile has it from, for the documentation
}

// String says what is promised, in a few words.
func (p Promise) String() string {
	text := string(p.Does)
	if p.Does == Unstated {
		text = "anything"
	}
	for i, status := range p.Status {
		text += [2]string{" with ", " or "}[min(i, 1)] + strconv.Itoa(status)
	}
	if p.Code != "" {
		text += " " + p.Code
	}
	return text
}

// Allows says whether an answer may have a status.
func (p Promise) Allows(status int) bool {
	if len(p.Status) > 0 {
		return slices.Contains(p.Status, status)
	}
	return p.Does == Refuses || status/100 == 2
}

// choices are the treatments that a situation can have.
var choices = map[Situation][]Treatment{
	FirstUse:         {Executes},
	Repeated:         {Replays, Refuses},
	OtherRequest:     {Refuses, Replays},
	OtherInFlight:    {Refuses, Waits},
	SameInFlight:     {Refuses, Waits},
	AfterRefusal:     {Replays, Executes, Refuses},
	AfterFailure:     {Replays, Executes, Refuses},
	KeyMissing:       {Executes, Refuses},
	KeyMalformed:     {Executes, Refuses},
	StoreUnreachable: {Refuses, Executes},
	OtherUser:        {Executes, Replays, Refuses},
}

// Choices are the treatments that a situation can have.
func (s Situation) Choices() []Treatment { return choices[s] }

// Marker is the header that tells a replay. The zero value says that there is none.
type Marker struct {
	Header string `json:"header,omitempty"`
	Value  string `json:"value,omitempty"`
}

// Stated says whether there is one.
func (m Marker) Stated() bool { return m.Header != "" }
