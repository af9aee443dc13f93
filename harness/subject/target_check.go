package subject

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Validate refuses what cannot be run; the error begins with the field and says what to write.
func (t Target) Validate() error {
	for _, check := range []func() error{
		t.validateStart, t.validateSchema, t.validateRequest, t.validateHeaders, t.validateKey, t.validateAnswers, t.validateEvidence,
		t.validateRecovery,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (t Target) validateStart() error {
	s := t.Start
	switch {
	case t.Name == "":
		return errors.New("name: missing; write a short name for reports, such as orders")
	case len(s.Command) == 0 || s.Command[0] == "":
		return errors.New("start.command: missing; write the program and its arguments, such as [node, server.js]")
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
	for _, text := range []struct{ field, value string }{
		{"request.path", r.Path}, {"request.body", r.Body}, {"other_body", t.OtherBody},
	} {
		if err := known(text.value, bodyFields); err != nil {
			return fmt.Errorf("%s: %w", text.field, err)
		}
	}
	if t.OtherBody != "" && t.OtherBody == r.Body {
		return errors.New("other_body: it is the body of the request; write one that asks for something else")
	}
	return nil
}

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func (t Target) validateHeaders() error {
	for field, headers := range map[string]map[string]string{"request.headers": t.Request.Headers, "auth": t.Auth} {
		for _, name := range names(headers) {
			switch value := headers[name]; {
			case !headerName.MatchString(name):
				return fmt.Errorf("%s: %q is no name of a header; write one such as X-Tenant", field, name)
			case strings.EqualFold(name, t.Key.Header):
				return fmt.Errorf("%s.%s: this header takes the key; leave it out", field, name)
			case strings.ContainsAny(value, "\r\n\x00"):
				return fmt.Errorf("%s.%s: the value has more than one line; write it on one", field, name)
			}
		}
	}
	return nil
}

func (t Target) validateKey() error {
	formats := []KeyFormat{KeyUUID4, KeyOpaque, KeyQuoted}
	switch {
	case !headerName.MatchString(t.Key.Header):
		return fmt.Errorf("key.header: %q is no name of a header; write one such as Idempotency-Key", t.Key.Header)
	case !slices.Contains(formats, t.Key.Format):
		return fmt.Errorf("key.format: %q is unknown; write uuid4, opaque or quoted", t.Key.Format)
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

func (t Target) validateEvidence() error {
	e := t.Evidence
	switch {
	case strings.TrimSpace(e.Executions) == "":
		return errors.New(`evidence.executions: missing, and nothing could be judged; write a query with one row for each execution, such as SELECT id, idem_key AS key FROM orders`)
	case strings.Contains(strings.TrimRight(e.Executions, "; \n\t"), ";"):
		return errors.New("evidence.executions: more than one statement; write one SELECT without a semicolon")
	case e.By != ByKey && e.By != ByToken:
		return fmt.Errorf("evidence.by: %q is unknown; write key or token", e.By)
	case e.By == ByToken && !strings.Contains(t.Request.Path+t.Request.Body, "{{unique}}"):
		return errors.New("evidence.by: there is no {{unique}} in request.body to find rows by; put it into a field that the service stores")
	case e.By == ByToken && t.OtherBody != "" && !strings.Contains(t.Request.Path+t.OtherBody, "{{unique}}"):
		return errors.New("other_body: there is no {{unique}} in it to find rows by; put it where request.body has it")
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
	case t.Answers.InFlight == nil:
		return errors.New("recovers_within: needs answers.in_flight, to tell a key that is stuck from one that was refused; write its statuses, or [] if duplicates wait")
	}
	return nil
}

// maxRecovery bounds what is waited for at each crash point.
const maxRecovery = 5 * time.Minute
