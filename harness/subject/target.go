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
	URL            []string          `yaml:"url"` // base URLs of a running service; then there is no start
	Start          TargetStart       `yaml:"start"`
	Database       TargetDatabase    `yaml:"database"`
	Schema         TargetSchema      `yaml:"schema"`
	Request        TargetRequest     `yaml:"request"`
	OtherBody      string            `yaml:"other_body"`   // of another request under the same key
	RefusedBody    string            `yaml:"refused_body"` // of a request that is well formed, and whose action is refused with 4xx
	FailingBody    string            `yaml:"failing_body"` // of a request whose action fails with 5xx
	SlowBody       string            `yaml:"slow_body"`    // of a request that takes long enough to be met in flight
	Key            TargetKey         `yaml:"key"`
	Auth           map[string]string `yaml:"auth"`  // headers of the only user
	Users          []TargetUser      `yaml:"users"` // instead of auth, where there are several
	Answers        TargetAnswers     `yaml:"answers"`
	Promise        TargetContract    `yaml:"contract"` // instead of answers
	Evidence       TargetEvidence    `yaml:"evidence"`
	RecoversWithin string            `yaml:"recovers_within"` // from the end of a fault to a key's final answer; "" is not stated
	Reduction      bool              `yaml:"reduction"`       // transactions are READ COMMITTED, and requests meet nowhere but in the database

	file     string    // absolute; relative paths start in its folder
	given    string    // as it was named
	began    time.Time // what {{timestamp}} says
	provider string    // base URL of the provider that the harness runs; "" for none
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
	Replicas    int               `yaml:"replicas"`     // processes of a run; default 2
}

// TargetDatabase is the database of a running service. One that is started gets a database of the harness's own.
type TargetDatabase struct {
	URL        string `yaml:"url"`        // where evidence is read; "" for none
	Disposable bool   `yaml:"disposable"` // faults may strike it
	Listen     string `yaml:"listen"`     // host:port of a proxy that the harness opens before it, which the service has been given as its database
}

// TargetUser is one user of the service.
type TargetUser struct {
	Name    string            `yaml:"name"`
	Headers map[string]string `yaml:"headers"`
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
	Header    string    `yaml:"header"`    // default Idempotency-Key
	Format    KeyFormat `yaml:"format"`    // default that of the profile, else uuid4
	Malformed string    `yaml:"malformed"` // what is no key, as sent, where {{unique}} may stand; default one that is wrong for the format
}

// KeyFormat is how a key is spelled.
type KeyFormat string

// The formats of keys.
const (
	KeyUUID4  KeyFormat = "uuid4"
	KeyUUID7  KeyFormat = "uuid7"
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

// defaultReplicas is how many processes a run starts: a race that one process keeps out shows between two.
const defaultReplicas = 2

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
	t.given = file
	t.began = time.Now().UTC().Truncate(time.Second)
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
	if profile, known := contract.FindProfile(t.Promise.Profile); known && t.Key.Format == "" {
		t.Key.Format = KeyFormat(profile.Format)
	}
	if t.Start.Replicas == 0 {
		t.Start.Replicas = defaultReplicas
	}
	if t.Start.OneProcess {
		t.Start.Replicas = 1
	}
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

// Given is the file as it was named.
func (t Target) Given() string { return t.given }

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

// WithProvider is the target with a payment provider that its processes are told about.
func (t Target) WithProvider(url string) Target {
	t.provider = url
	return t
}

// Running says whether the service runs already, so that it can only be asked.
func (t Target) Running() bool { return len(t.URL) > 0 }
