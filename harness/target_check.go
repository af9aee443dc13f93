package harness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// Remark is one line about a target file.
type Remark struct {
	Kind RemarkKind
	Text string
}

// RemarkKind says whether something works.
type RemarkKind int

// The kinds.
const (
	Works    RemarkKind = iota
	Fails               // a storm would say nothing, or something wrong
	Unjudged            // it works, and something cannot be judged
)

// CheckTarget starts or reaches the target, sends one harmless request, then the same again, reads the evidence back, and says line by line what
// works and what does not. dir takes logs. An error is about a target that could not be started or reached, or a file that does not fit it.
func CheckTarget(ctx context.Context, lab *Lab, t subject.Target, dir string, say func(Remark)) (err error) {
	r, err := buildTarget(ctx, lab, Options{Target: &t, Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	c := checking{rig: r, say: say}
	for _, step := range []func(context.Context) error{c.reach, c.evidenceAnswers, c.first, c.again, c.everyUser, c.otherBody} {
		if err := step(ctx); err != nil {
			return err
		}
		if c.failed {
			return nil
		}
	}
	c.judged()
	return nil
}

// checking is a check under way.
type checking struct {
	*rig
	say    func(Remark)
	failed bool
	key    string // of the first request
	answer asked
}

func (c *checking) works(format string, args ...any) {
	c.say(Remark{Works, fmt.Sprintf(format, args...)})
}

func (c *checking) fails(format string, args ...any) {
	c.failed = true
	c.say(Remark{Fails, fmt.Sprintf(format, args...)})
}

func (c *checking) reach(ctx context.Context) error {
	if c.target.Running() {
		return c.dial(ctx)
	}
	c.works("start: %d process(es) of %s are ready on %s", len(c.replicas), strings.Join(c.target.Start.Command, " "), strings.Join(c.urls(), ", "))
	return nil
}

// dial looks whether anybody listens where the service should be.
func (c *checking) dial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	for n, base := range c.urls() {
		u, err := url.Parse(base)
		if err != nil {
			return err
		}
		port := cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err != nil {
			return fmt.Errorf("%w: %s: url[%d]: %w; start the service, or correct url", ErrUnreachable, c.target.File(), n, err)
		}
		c.works("url[%d]: something listens at %s", n, base)
		_ = conn.Close() // nothing was sent on it
	}
	return nil
}

// evidenceAnswers asks for a key that was never sent.
func (c *checking) evidenceAnswers(ctx context.Context) error {
	if c.target.Evidence.File.Path != "" && !c.target.Evidence.File.Stdout() {
		return nil // a log that is not there yet is written by the first request
	}
	counts, err := c.count(ctx, c.target.NewKey())
	if err != nil {
		return err
	}
	for _, name := range c.target.Evidence.Sources() {
		if counts[name] != 0 {
			c.fails("evidence.%s: shows %d executions for a key that was never sent", name, counts[name])
			return nil
		}
		c.works("evidence.%s: answers, and shows nothing for a key that was never sent", name)
	}
	return nil
}

func (c *checking) first(ctx context.Context) (err error) {
	c.key = c.target.NewKey()
	for n, base := range c.urls() {
		key := c.key
		if n > 0 {
			key = c.target.NewKey()
		}
		a, err := c.ask(ctx, base, 0, key, c.target.Request.Body)
		if err != nil {
			return fmt.Errorf("%w: %s: %s does not answer: %w; start the service, or see to url", ErrUnreachable, c.target.File(), base, err)
		}
		if why := a.refused(); why != "" {
			c.fails("%s", why)
			return nil
		}
		if n == 0 {
			c.answer = a
		}
		c.works("request: %s %s at %s was answered %s", c.target.Request.Method, c.target.Request.Path, base, a)
	}
	counts, err := c.countShown(ctx, c.key)
	if err != nil {
		return err
	}
	if why := c.unshown(counts, c.key); why != "" {
		c.fails("%s", why)
		return nil
	}
	for _, name := range c.target.Evidence.Sources() {
		c.works("evidence.%s: shows the one execution", name)
	}
	return nil
}

// again sends the first request once more, and looks whether it was executed again.
func (c *checking) again(ctx context.Context) error {
	a, err := c.ask(ctx, c.urls()[0], 0, c.key, c.target.Request.Body)
	if err != nil {
		return fmt.Errorf("%w: the same request again: %w", ErrUnreachable, err)
	}
	counts, err := c.count(ctx, c.key)
	if err != nil {
		return err
	}
	for name, n := range counts {
		if n > 1 {
			c.fails("key.header: the same request under the same key was executed again (evidence.%s shows %d): the service ignores %s; see to key.header and key.format", name, n, c.target.Key.Header)
			return nil
		}
	}
	c.works("key: the same request again was answered %s, and not executed again", a)
	c.replayed(a)
	return nil
}

// replayed compares the second answer with what is promised.
func (c *checking) replayed(a asked) {
	promise := c.target.Contract()
	row := promise.Promise(contract.Repeated)
	switch same := a.status == c.answer.status; {
	case row.Does == contract.Unstated:
	case row.Does == contract.Refuses && !row.Allows(a.status):
		c.fails("contract.replay: it %s, and the answer was %d; correct the row, or leave it out if the service replays", row, a.status)
	case row.Does == contract.Replays && a.status/100 != 2:
		c.fails("contract.replay: the same request again was refused with %d; write contract.replay: {does: refuses, status: [%d]}", a.status, a.status)
	case row.Does == contract.Replays && len(row.Status) == 0 && !same:
		c.fails("contract.replay: the first answer was %d and this is %d; write contract.replay: {does: replays, status: [%d]}", c.answer.status, a.status, a.status)
	case row.Does == contract.Replays && promise.Marker.Stated() && !a.marked:
		c.fails("contract.replay.marker: the replay has no header %s: %s; write the header that it has, or none", promise.Marker.Header, promise.Marker.Value)
	case promise.Marker.Stated() && c.answer.marked:
		c.fails("contract.replay.marker: the first answer has the header %s: %s too, so that it tells nothing; write another, or none", promise.Marker.Header, promise.Marker.Value)
	case len(row.Status) == 0 && !promise.Marker.Stated() && !bytes.Equal(a.body, c.answer.body):
		c.say(Remark{Unjudged, "replay-fidelity: the two answers differ in their bytes; if it is more than white space and order, it will be accused"})
	}
}

// everyUser sends one request for each further user.
func (c *checking) everyUser(ctx context.Context) error {
	for n, user := range c.target.Accounts() {
		if n == 0 {
			continue
		}
		a, err := c.ask(ctx, c.urls()[0], n, c.target.NewKey(), c.target.Request.Body)
		if err != nil {
			return fmt.Errorf("%w: users[%d]: %w", ErrUnreachable, n, err)
		}
		if a.status/100 != 2 {
			c.fails("users[%d].headers: the service refused %s: %s", n, user.Name, a)
			return nil
		}
		c.works("users[%d]: %s is let in", n, user.Name)
	}
	return nil
}

// otherBody sends another body under the used key.
func (c *checking) otherBody(ctx context.Context) error {
	row := c.target.Contract().Promise(contract.OtherRequest)
	if c.target.OtherBody == "" || row.Does != contract.Refuses {
		return nil
	}
	a, err := c.ask(ctx, c.urls()[0], 0, c.key, c.target.OtherBody)
	switch {
	case err != nil:
		return fmt.Errorf("%w: other_body: %w", ErrUnreachable, err)
	case !row.Allows(a.status):
		c.say(Remark{Unjudged, fmt.Sprintf("contract.mismatch: another body under the used key was answered %s, and the contract %s: a run will call this a violation; if it is meant, correct contract.mismatch", a, row)})
	default:
		c.works("other_body: under the used key it was answered %s", a)
	}
	return nil
}

// judged says what a run is going to judge, and what to add for the rest.
func (c *checking) judged() {
	promise := c.target.Contract()
	var rows []string
	for _, s := range contract.Situations {
		if why, unstated := promise.Unstated[s.Invariant()]; unstated {
			c.say(Remark{Unjudged, fmt.Sprintf("%s will not be judged: %s", s.Invariant(), why)})
		} else {
			rows = append(rows, string(s))
		}
	}
	for _, id := range []string{"recovers", "mismatch-rejected", "replay-fidelity", "evidence-agrees"} {
		if why, unstated := promise.Unstated[id]; unstated {
			c.say(Remark{Unjudged, id + " will not be judged: " + why})
		}
	}
	if len(rows) > 0 {
		c.works("contract: these situations will be judged: %s", strings.Join(rows, ", "))
	}
}
