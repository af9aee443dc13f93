package subject

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/specfile"
)

// Target is a target file: somebody else's server, how it is started and asked, and where its executions can be counted. See
// docs/target-file.md for the format by example.
type Target struct {
	Version        int               `yaml:"version,omitempty"` // of the file's form; left out, it is 1
	Name           string            `yaml:"name"`
	Start          TargetStart       `yaml:"start"`
	Schema         TargetSchema      `yaml:"schema"`
	Request        TargetRequest     `yaml:"request"`
	OtherBody      string            `yaml:"other_body"` // of another request under the same key
	Key            TargetKey         `yaml:"key"`
	Auth           map[string]string `yaml:"auth"` // headers
	Answers        TargetAnswers     `yaml:"answers"`
	Evidence       TargetEvidence    `yaml:"evidence"`
	RecoversWithin string            `yaml:"recovers_within"` // from the end of a fault to a key's final answer; "" is not stated
	Reduction      bool              `yaml:"reduction"`       // transactions are READ COMMITTED, and requests meet nowhere but in the database

	file string // absolute; relative paths start in its folder
}

// TargetStart says how to start one process of the server. Command and environment may hold the placeholders of Addresses.
type TargetStart struct {
	Command     []string          `yaml:"command"`
	Env         map[string]string `yaml:"env"`
	Dir         string            `yaml:"dir"`          // default the file's folder
	Ready       string            `yaml:"ready"`        // a path that answers 2xx, or "tcp" for an open port; default tcp
	Stop        string            `yaml:"stop"`         // signal; default SIGTERM
	DatabaseEnv string            `yaml:"database_env"` // variable that takes the database's URL; default DATABASE_URL
	PortEnv     string            `yaml:"port_env"`     // variable that takes the port to listen on; default PORT
	OneProcess  bool              `yaml:"one_process"`  // a second process beside the first is not possible
}

// TargetSchema makes the tables of an empty database, in one of three ways; none says that the server does it when it starts.
type TargetSchema struct {
	File    string   `yaml:"file"`
	SQL     string   `yaml:"sql"`
	Command []string `yaml:"command"` // with the server's environment
}

// TargetRequest is the request under test. Path and body may hold generated fields; see Target.Body.
type TargetRequest struct {
	Method  string            `yaml:"method"` // default POST
	Path    string            `yaml:"path"`
	Headers map[string]string `yaml:"headers"` // default Content-Type: application/json
	Body    string            `yaml:"body"`
}

// TargetKey says how the idempotency key is sent.
type TargetKey struct {
	Header string    `yaml:"header"` // default Idempotency-Key
	Format KeyFormat `yaml:"format"` // default uuid4
}

// KeyFormat is how a key is spelled.
type KeyFormat string

// The formats of keys.
const (
	KeyUUID4  KeyFormat = "uuid4"
	KeyOpaque KeyFormat = "opaque" // 24 letters and digits
	KeyQuoted KeyFormat = "quoted" // a UUID as a structured-field string, in quotation marks
)

// TargetAnswers says what statuses mean, as far as more is to be said than: 2xx is an execution or a replay, 4xx refuses, 5xx has failed.
type TargetAnswers struct {
	Executed []int `yaml:"executed"`
	Replayed []int `yaml:"replayed"`
	InFlight []int `yaml:"in_flight"` // an empty list says that duplicates wait
	Mismatch []int `yaml:"mismatch"`
	Failed   []int `yaml:"failed"`
}

// TargetEvidence is SQL over the service's own database. Executions gives one row for each committed execution, with a column "key",
// or "token" where the service does not store the key; a column "id" names the row, and others are shown.
type TargetEvidence struct {
	Executions string     `yaml:"executions"`
	By         EvidenceBy `yaml:"by"` // default key
}

// EvidenceBy is what tells which request an execution is of.
type EvidenceBy string

// What rows may be found by.
const (
	ByKey   EvidenceBy = "key"   // column "key"
	ByToken EvidenceBy = "token" // column "token": what {{unique}} in the body was
)

// TargetVersion is the newest form of target files that this program reads.
const TargetVersion = 1

// LoadTarget reads a target file.
func LoadTarget(file string) (Target, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Target{}, fmt.Errorf("read the target file: %w", err)
	}
	t, err := ParseTarget(file, data)
	if err != nil {
		return Target{}, err
	}
	if t.file, err = filepath.Abs(file); err != nil {
		return Target{}, fmt.Errorf("find the target file's folder: %w", err)
	}
	return t, nil
}

// ParseTarget reads a target from data; name stands for the file in errors, which read "file:line:column: field: what is wrong; cure".
func ParseTarget(name string, data []byte) (Target, error) {
	var t Target
	if err := specfile.Refuse(name, data, TargetVersion); err != nil {
		return Target{}, err
	}
	if err := specfile.Decode(name, data, &t); err != nil {
		return Target{}, err
	}
	t = t.withDefaults()
	if err := t.Validate(); err != nil {
		return Target{}, specfile.Place(name, data, err)
	}
	return t, nil
}

func (t Target) withDefaults() Target {
	for field, byDefault := range map[*string]string{
		&t.Start.Ready: "tcp", &t.Start.Stop: "SIGTERM", &t.Start.DatabaseEnv: "DATABASE_URL", &t.Start.PortEnv: "PORT",
		&t.Request.Method: "POST", &t.Key.Header: "Idempotency-Key",
		(*string)(&t.Key.Format): string(KeyUUID4), (*string)(&t.Evidence.By): string(ByKey),
	} {
		if *field == "" {
			*field = byDefault
		}
	}
	return t
}

// File is the absolute path of the file that it was loaded from.
func (t Target) File() string { return t.file }

// path makes a path of the file absolute.
func (t Target) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(t.file), p)
}

// Recovery is RecoversWithin; 0 says that it is not stated.
func (t Target) Recovery() time.Duration {
	d, _ := time.ParseDuration(t.RecoversWithin) // Validate has refused another text
	return d
}

// Contract is what the server promises, as far as the file says.
func (t Target) Contract() contract.Contract {
	return contract.Service{
		Method: t.Request.Method, Path: t.Request.Path, Recovers: t.Recovery() > 0,
		Executed: t.Answers.Executed, Replayed: t.Answers.Replayed, InFlight: t.Answers.InFlight,
		Mismatch: t.Answers.Mismatch, Failed: t.Answers.Failed,
	}.Contract()
}
