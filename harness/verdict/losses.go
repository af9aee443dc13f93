package verdict

import "github.com/idemstorm/idemstorm/harness/history"

// Losses is what a run lost by a weakened durability that its scenario states: no violation, and never hidden.
type Losses struct {
	Stated string `json:"stated"` // what the scenario allows to be lost, in words
	Fault  int    `json:"fault"`  // history.Fault.ID of the one fault that may lose it
	Orders []Lost `json:"orders"` // every acknowledged order that is gone, in the order of acknowledgement
}

// Lost is one acknowledged order that is gone.
type Lost struct {
	Key      string      `json:"key,omitempty"`
	User     int64       `json:"user"`
	Endpoint string      `json:"endpoint"`
	Order    string      `json:"order"`           // what the answer called it
	Attempt  history.Ref `json:"attempt"`         // the first to be told of it
	AckedNS  int64       `json:"acked_ns"`        // when its answer had been read, since the run's zero
	BeforeNS int64       `json:"before_ns"`       // how long that was before the strike; 0 when the answer was under way then
	Again    bool        `json:"again,omitempty"` // the key was executed again afterwards, once
}
