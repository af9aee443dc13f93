package subject

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// TargetEvidence says where executions can be counted. SQL over the service's own database gives one row for each committed execution, with a
// column "key", or "token" where the service does not store the key; a column "id" names the row, and others are shown. Of several sources the
// first in the order of this struct is what is judged by; the others are compared with it.
type TargetEvidence struct {
	Executions string         `yaml:"executions"`
	By         EvidenceBy     `yaml:"by"` // of executions; default key
	HTTP       TargetHTTP     `yaml:"http"`
	File       TargetLines    `yaml:"file"`
	Provider   TargetProvider `yaml:"provider"`
	Counted    []string       `yaml:"-"` // names of sources that the program which describes the target reads by itself
}

// EvidenceBy is what tells which request an execution is of.
type EvidenceBy string

// What rows may be found by.
const (
	ByKey   EvidenceBy = "key"   // the key
	ByToken EvidenceBy = "token" // what {{unique}} in the body was
)

// TargetHTTP is an endpoint that gives a JSON array, one object for each execution.
type TargetHTTP struct {
	Path    string            `yaml:"path"` // on the service, or a whole URL
	List    string            `yaml:"list"` // where the array is, as a.b; default the whole answer
	Key     string            `yaml:"key"`  // member that holds the key, as a.b
	Token   string            `yaml:"token"`
	ID      string            `yaml:"id"` // member that names the execution; default its place
	Headers map[string]string `yaml:"headers"`
}

// TargetLines is a file with one line for each execution.
type TargetLines struct {
	Path    string `yaml:"path"` // or stdout: what the service's processes print
	Key     string `yaml:"key"`  // of JSON lines: the member that holds the key, as a.b
	Token   string `yaml:"token"`
	ID      string `yaml:"id"`
	Pattern string `yaml:"pattern"` // of other lines: a regular expression with a group named key or token, and perhaps id
}

// TargetProvider is a payment provider that the harness runs and the service calls; its ledger has one line for each charge.
type TargetProvider struct {
	Env     string `yaml:"env"`      // variable that takes its URL
	NoDedup bool   `yaml:"no_dedup"` // it charges again for a key that it knows, so that calls are counted
}

// stdoutLines is the path that stands for what the service prints.
const stdoutLines = "stdout"

// Stdout says whether the lines are what the service prints.
func (l TargetLines) Stdout() bool { return l.Path == stdoutLines }

// LinesPath is the absolute path of evidence.file.
func (t Target) LinesPath() string { return t.path(t.Evidence.File.Path) }

// Sources are the names of the sources that are given, in order.
func (e TargetEvidence) Sources() (out []string) {
	for _, source := range []struct {
		name  string
		given bool
	}{
		{"executions", strings.TrimSpace(e.Executions) != ""}, {"http", e.HTTP.Path != ""}, {"file", e.File.Path != ""}, {"provider", e.Provider.Env != ""},
	} {
		if source.given {
			out = append(out, source.name)
		}
	}
	return append(out, e.Counted...)
}

func (t Target) validateEvidence() error {
	if len(t.Evidence.Sources()) == 0 {
		return errors.New(`evidence.executions: missing, and nothing could be judged; write a query with one row for each execution, such as SELECT id, idem_key AS key FROM orders, or one of http, file, provider`)
	}
	for _, check := range []func() error{t.validateSQL, t.validateEndpoint, t.validateLines, t.validateProvider, t.validateTokens} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (t Target) validateSQL() error {
	e := t.Evidence
	switch {
	case strings.Contains(strings.TrimRight(e.Executions, "; \n\t"), ";"):
		return errors.New("evidence.executions: more than one statement; write one SELECT without a semicolon")
	case e.By != ByKey && e.By != ByToken:
		return fmt.Errorf("evidence.by: %q is unknown; write key or token", e.By)
	case e.Executions != "" && t.Running() && t.Database.URL == "":
		return errors.New("database.url: missing; evidence.executions is asked of the database of a service that idemstorm does not start, such as postgres://user@127.0.0.1:5432/shop")
	}
	return nil
}

func (t Target) validateEndpoint() error {
	h := t.Evidence.HTTP
	if h.Path == "" {
		return nil
	}
	if _, err := url.Parse(h.Path); err != nil || !strings.HasPrefix(h.Path, "/") && !strings.HasPrefix(h.Path, "http://") && !strings.HasPrefix(h.Path, "https://") {
		return fmt.Errorf("evidence.http.path: %q is neither a path nor a URL; write one such as /internal/orders", h.Path)
	}
	for _, name := range names(h.Headers) {
		if !headerName.MatchString(name) {
			return fmt.Errorf("evidence.http.headers: %q is no name of a header; write one such as Authorization", name)
		}
	}
	return named("evidence.http.key", oneName(h.Key, h.Token))
}

// named puts a field before what is wrong with it.
func named(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

func oneName(key, token string) error {
	switch {
	case key == "" && token == "":
		return errors.New("missing; write the name of the member that holds the key, such as idempotency_key, or token for one that holds {{unique}}")
	case key != "" && token != "":
		return errors.New("both key and token are given; keep one")
	}
	return nil
}

func (t Target) validateLines() error {
	l := t.Evidence.File
	switch {
	case l.Path == "":
		return nil
	case l.Stdout() && t.Running():
		return errors.New("evidence.file.path: stdout is of a service that idemstorm starts; write the path of its log")
	case l.Pattern == "":
		return named("evidence.file.key", oneName(l.Key, l.Token))
	case l.Key != "" || l.Token != "" || l.ID != "":
		return errors.New("evidence.file.pattern: beside key, token or id, which are of JSON lines; keep one way")
	}
	pattern, err := regexp.Compile(l.Pattern)
	if err != nil {
		return fmt.Errorf("evidence.file.pattern: %w; write a regular expression such as charged (?P<key>\\S+)", err)
	}
	groups := pattern.SubexpNames()
	if slices.Contains(groups, "key") == slices.Contains(groups, "token") {
		return errors.New("evidence.file.pattern: it must have one group named key or token; write one such as charged (?P<key>\\S+)")
	}
	return nil
}

func (t Target) validateProvider() error {
	p := t.Evidence.Provider
	switch {
	case p.Env == "" && p.NoDedup:
		return errors.New("evidence.provider.env: missing; write the variable that takes the provider's URL, such as PAYMENT_URL")
	case p.Env == "":
		return nil
	case !variable.MatchString(p.Env):
		return fmt.Errorf("evidence.provider.env: %q is no name of a variable; write one such as PAYMENT_URL", p.Env)
	case t.Running():
		return errors.New("evidence.provider: the service runs already and cannot be told the provider's address; leave it out, or write start instead of url")
	}
	return nil
}

// ByTokens says whether any source finds executions by the planted token.
func (e TargetEvidence) ByTokens() bool {
	return e.By == ByToken && e.Executions != "" || e.HTTP.Token != "" || e.File.Token != "" || strings.Contains(e.File.Pattern, "<token>")
}

func (t Target) validateTokens() error {
	if !t.Evidence.ByTokens() && t.Evidence.By != ByToken {
		return nil
	}
	if !strings.Contains(t.Request.Path+t.Request.Body, "{{unique}}") {
		return errors.New("evidence.by: there is no {{unique}} in request.body to find rows by; put it into a field that the service stores")
	}
	for _, other := range t.bodies() {
		if other.text != "" && !strings.Contains(t.Request.Path+other.text, "{{unique}}") {
			return fmt.Errorf("%s: there is no {{unique}} in it to find rows by; put it where request.body has it", other.field)
		}
	}
	return nil
}

type namedText struct{ field, text string }

// bodies are those beside the request's own.
func (t Target) bodies() []namedText {
	return []namedText{
		{"other_body", t.OtherBody}, {"refused_body", t.RefusedBody}, {"failing_body", t.FailingBody}, {"slow_body", t.SlowBody},
	}
}
