package subject

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// Validate refuses what cannot be run; the error begins with the field and says what to write.
func (t Target) Validate() error {
	for _, check := range []func() error{
		t.validateWhere, t.validateSchema, t.validateRequest, t.validateBodies, t.validateHeaders, t.validateKey, t.validateAnswers, t.validatePromise,
		t.validateEvidence, t.validateRecovery,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// validateWhere wants a service that is started, or one that runs.
func (t Target) validateWhere() error {
	if t.Name == "" {
		return errors.New("name: missing; write a short name for reports, such as orders")
	}
	if err := t.validateDatabase(); err != nil {
		return err
	}
	if !t.Running() {
		return t.validateStart()
	}
	return t.validateRunning()
}

func (t Target) validateRunning() error {
	switch {
	case len(t.Start.Command) > 0:
		return errors.New("url: start.command is given too; keep url for a service that runs already, or start for one that idemstorm starts")
	case t.Schema.File != "" || t.Schema.SQL != "" || len(t.Schema.Command) > 0:
		return errors.New("schema: the service runs already, and its database is not touched; leave it out with url")
	}
	for i, text := range t.URL {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
			return fmt.Errorf("url[%d]: %q is no base URL; write one such as http://127.0.0.1:3000", i, text)
		}
	}
	return nil
}

func (t Target) validateDatabase() error {
	d := t.Database
	if d == (TargetDatabase{}) {
		return nil
	}
	if !t.Running() {
		return errors.New("database: the service that idemstorm starts gets a database of its own; leave it out with start")
	}
	u, err := url.Parse(d.URL)
	switch {
	case d.URL == "":
		return errors.New("database.url: missing; write one such as postgres://user@127.0.0.1:5432/shop")
	case err != nil || u.Host == "" || u.Scheme != "postgres" && u.Scheme != "postgresql":
		return errors.New("database.url: it is no URL of a PostgreSQL database; write one such as postgres://user@127.0.0.1:5432/shop")
	case d.Listen != "" && !d.Disposable:
		return errors.New("database.disposable: missing; faults strike only a database that is declared disposable: write true if its contents may be lost, or leave out listen")
	}
	if host, port, err := net.SplitHostPort(d.Listen); d.Listen != "" && (err != nil || port == "" || !loopback.Is(host)) {
		return fmt.Errorf("database.listen: %q is no address on the loopback interface; write one such as 127.0.0.1:6543", d.Listen)
	}
	return nil
}

func (t Target) validateStart() error {
	s := t.Start
	switch {
	case len(s.Command) == 0 || s.Command[0] == "":
		return errors.New("start.command: missing; write the program and its arguments, such as [node, server.js], or url: [http://127.0.0.1:3000] for a service that runs already")
	case s.Replicas < 1 || s.Replicas > 16:
		return fmt.Errorf("start.replicas: %d is not between 1 and 16; write a number of processes such as 2", s.Replicas)
	case s.Ready != "tcp" && !strings.HasPrefix(s.Ready, "/"):
		return fmt.Errorf("start.ready: %q is neither a path nor tcp; write a path that answers 2xx, such as /healthz, or tcp", s.Ready)
	case unix.SignalNum(s.Stop) == 0:
		return fmt.Errorf("start.stop: %q is no signal; write SIGTERM, SIGINT or SIGQUIT", s.Stop)
	case !variable.MatchString(s.DatabaseEnv):
		return fmt.Errorf("start.database_env: %q is no name of a variable; write one such as DATABASE_URL", s.DatabaseEnv)
	case !variable.MatchString(s.PortEnv):
		return fmt.Errorf("start.port_env: %q is no name of a variable; write one such as PORT", s.PortEnv)
	case s.PortEnv == s.DatabaseEnv:
		return fmt.Errorf("start.port_env: %q takes the database's URL already; write another", s.PortEnv)
	}
	return t.validateAddresses()
}

// validateAddresses looks at what the server is told by arguments and environment.
func (t Target) validateAddresses() error {
	s := t.Start
	for i, word := range s.Command {
		if err := known(word, addressFields); err != nil {
			return fmt.Errorf("start.command[%d]: %w", i, err)
		}
	}
	for _, name := range names(s.Env) {
		if !variable.MatchString(name) {
			return fmt.Errorf("start.env: %q is no name of a variable; write one such as LOG_LEVEL", name)
		}
		if err := known(s.Env[name], addressFields); err != nil {
			return fmt.Errorf("start.env.%s: %w", name, err)
		}
	}
	return nil
}

func (t Target) validateSchema() error {
	given := 0
	for _, is := range []bool{t.Schema.File != "", t.Schema.SQL != "", len(t.Schema.Command) > 0} {
		if is {
			given++
		}
	}
	if given > 1 {
		return errors.New("schema: more than one of file, sql and command is given; keep one")
	}
	return nil
}

var methods = []string{"POST", "PUT", "PATCH", "DELETE"}

func (t Target) validateRequest() error {
	r := t.Request
	switch {
	case !slices.Contains(methods, r.Method):
		return fmt.Errorf("request.method: %q changes nothing; write one of %s", r.Method, strings.Join(methods, ", "))
	case !strings.HasPrefix(r.Path, "/"):
		return fmt.Errorf("request.path: %q does not begin with a slash; write the path alone, such as /orders", r.Path)
	}
	for _, text := range append(t.bodies(), namedText{"request.path", r.Path}, namedText{"request.body", r.Body}) {
		if err := knownInBody(text.text); err != nil {
			return fmt.Errorf("%s: %w", text.field, err)
		}
	}
	return nil
}

// validateBodies wants each body to ask for something else.
func (t Target) validateBodies() error {
	r := t.Request
	if t.OtherBody != "" && t.OtherBody == r.Body {
		return errors.New("other_body: it is the body of the request; write one that asks for something else")
	}
	for _, other := range t.bodies()[1:3] {
		if other.text != "" && other.text == r.Body {
			return fmt.Errorf("%s: it is the body of the request, which must succeed; write one that does not", other.field)
		}
	}
	return nil
}

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func (t Target) validateHeaders() error {
	if len(t.Auth) > 0 && len(t.Users) > 0 {
		return errors.New("auth: users are given too; write the headers of each under users, and leave auth out")
	}
	if err := t.validHeaders("request.headers", t.Request.Headers); err != nil {
		return err
	}
	if err := t.validHeaders("auth", t.Auth); err != nil {
		return err
	}
	for i, user := range t.Users {
		field := fmt.Sprintf("users[%d].headers", i)
		if len(user.Headers) == 0 {
			return fmt.Errorf("%s: missing; write what the service knows the user by, such as {Authorization: Bearer abc}", field)
		}
		if err := t.validHeaders(field, user.Headers); err != nil {
			return err
		}
	}
	return nil
}

func (t Target) validHeaders(field string, headers map[string]string) error {
	for _, name := range names(headers) {
		switch value := headers[name]; {
		case !headerName.MatchString(name):
			return fmt.Errorf("%s: %q is no name of a header; write one such as X-Tenant", field, name)
		case strings.EqualFold(name, t.Key.Header):
			return fmt.Errorf("%s.%s: this header takes the key; leave it out", field, name)
		case slices.Contains(reserved, http.CanonicalHeaderKey(name)):
			return fmt.Errorf("%s.%s: HTTP itself sets this header; leave it out", field, name)
		case strings.ContainsAny(value, "\r\n\x00"):
			return fmt.Errorf("%s.%s: the value has more than one line; write it on one", field, name)
		}
	}
	return nil
}

// reserved headers decide where a request ends.
var reserved = []string{"Content-Length", "Transfer-Encoding", "Connection", "Host"}

func (t Target) validateKey() error {
	formats := []KeyFormat{KeyUUID4, KeyUUID7, KeyOpaque, KeyQuoted}
	switch {
	case !headerName.MatchString(t.Key.Header):
		return fmt.Errorf("key.header: %q is no name of a header; write one such as Idempotency-Key", t.Key.Header)
	case !slices.Contains(formats, t.Key.Format):
		return fmt.Errorf("key.format: %q is unknown; write uuid4, uuid7, opaque or quoted", t.Key.Format)
	case strings.ContainsAny(t.Key.Malformed, "\r\n\x00"):
		return errors.New("key.malformed: the value has more than one line; write it on one")
	}
	if err := knownInBody(t.Key.Malformed); err != nil {
		return fmt.Errorf("key.malformed: %w", err)
	}
	return nil
}

// validateAnswers wants a success to mean one thing.
func (t Target) validateAnswers() error {
	a := t.Answers
	lists := []struct {
		field    string
		statuses []int
	}{
		{"executed", a.Executed}, {"replayed", a.Replayed}, {"in_flight", a.InFlight}, {"mismatch", a.Mismatch}, {"failed", a.Failed},
	}
	success := map[int]string{}
	for n, list := range lists {
		for i, status := range list.statuses {
			field := fmt.Sprintf("answers.%s[%d]", list.field, i)
			other, taken := success[status]
			switch {
			case status < 200 || status > 599:
				return fmt.Errorf("%s: %d is no status of an answer; write one from 200 to 599", field, status)
			case n < 2 && status >= 400:
				return fmt.Errorf("%s: %d is an error; write statuses below 400, and errors under in_flight, mismatch or failed", field, status)
			case taken && other != list.field:
				return fmt.Errorf("%s: %d is under %s too; leave it out of both where it may mean either", field, status, other)
			case n < 2:
				success[status] = list.field
			}
		}
	}
	return nil
}

func (t Target) validateRecovery() error {
	if t.RecoversWithin == "" {
		return nil
	}
	d, err := time.ParseDuration(t.RecoversWithin)
	switch {
	case err != nil || d <= 0 || d > maxRecovery:
		return fmt.Errorf("recovers_within: %q is no time up to %v; write one such as 2s", t.RecoversWithin, maxRecovery)
	case t.Answers.InFlight == nil && t.Promise.Profile == "":
		return errors.New("recovers_within: needs answers.in_flight, to tell a key that is stuck from one that was refused; write its statuses, or [] if duplicates wait")
	}
	return nil
}

// maxRecovery bounds what is waited for at each crash point.
const maxRecovery = 5 * time.Minute
