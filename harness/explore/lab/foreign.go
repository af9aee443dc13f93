package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/provider"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// ForeignOptions say how a server of somebody else's is explored. Target and Dir are required.
type ForeignOptions struct {
	Target   subject.Target
	Dir      string        // takes the servers' logs
	BinDir   string        // PostgreSQL's binaries; "" looks for them
	Case     string        // duplicates or mismatch; default duplicates
	Requests int           // default 2
	Shared   bool          // one server process for all requests, instead of one each
	Quiet    time.Duration // see explore.StageOptions
	Params   bool

	// Serve starts the n-th server, from 1, in the caller's own process, with the database's URL that it must use, and gives the server's base
	// URL; the caller ends it after Close. nil starts the target's command. Nothing can be killed then.
	Serve func(n int, dsn string) (baseURL string, err error)
}

// Cases of a foreign server.
const (
	caseDuplicates = "duplicates"
	caseMismatch   = "mismatch"
)

// ForeignCases are the cases that a foreign server can be explored in.
var ForeignCases = []string{caseDuplicates, caseMismatch}

func (o ForeignOptions) withDefaults() ForeignOptions {
	if o.Case == "" {
		o.Case = caseDuplicates
	}
	if o.Requests == 0 {
		o.Requests = 2
	}
	o.Shared = o.Shared || o.Target.Start.OneProcess
	return o
}

// Validate says what cannot be explored.
func (o ForeignOptions) Validate() error {
	o = o.withDefaults()
	switch {
	case o.Target.Running():
		return fmt.Errorf("%s: start: missing; a service is explored on a throwaway database, with processes that idemstorm starts: write start instead of url", o.Target.File())
	case o.Target.Evidence.Executions == "":
		return fmt.Errorf("%s: evidence.executions: missing; the explorer reads each order's rows from the service's own database, such as SELECT id, idem_key AS key FROM orders", o.Target.File())
	case !slices.Contains(ForeignCases, o.Case):
		return fmt.Errorf("no case %q for a target; there are: duplicates, mismatch", o.Case)
	case o.Requests < 1 || o.Requests > 4:
		return fmt.Errorf("%d requests: between 1 and 4 can be explored", o.Requests)
	case o.Case == caseMismatch && o.Target.OtherBody == "":
		return fmt.Errorf("%s: other_body: missing; the case mismatch needs the body of another request", o.Target.File())
	}
	return nil
}

// Actors is how many act at once.
func (o ForeignOptions) Actors() int { return o.withDefaults().Requests }

// Foreign is a running server of somebody else's on a throwaway database, and the stage that it is explored on.
type Foreign struct {
	opts     ForeignOptions
	promise  contract.Contract
	cluster  *pgcluster.Cluster
	dsn      string
	stage    *explore.Stage
	judge    *explore.Judge
	servers  []*subject.Server
	clients  []*explore.Client
	proxies  []*pgwire.Proxy
	provider *provider.Provider // where the target calls one
	restarts int                // of servers that had ended by themselves
}

// Scenario is the case that the lab was opened for.
func (f *Foreign) Scenario() (explore.Scenario, error) {
	s := explore.Scenario{
		Name:  fmt.Sprintf("%s: %d × %s %s, %s", f.opts.Target.Name, f.opts.Requests, f.opts.Target.Request.Method, f.opts.Target.Request.Path, f.opts.Case),
		Fresh: func(context.Context) (explore.Case, error) { return f.fresh(), nil },
		Judge: func(ctx context.Context, c explore.Case, plays []explore.Play) (schedule.Outcome, error) {
			return f.judge.Case(ctx, c, f.askedAgain(ctx, c, plays), explore.Beside{})
		},
	}
	for n := range f.opts.Requests {
		name, class, body := fmt.Sprintf("request %d", n+1), "request", f.opts.Target.Request.Body
		if f.opts.Case == caseMismatch {
			class = ""
			if n > 0 {
				name, class, body = fmt.Sprintf("other %d", n), "other", f.opts.Target.OtherBody
			}
		}
		s.Actors = append(s.Actors, f.actor(f.client(n), name, class, body))
	}
	return s, nil
}

// askedAgain is the plays with what was asked for after the schedule. A service that completes its record when it has answered already needs a
// moment: where it states how soon a key recovers it is given that long, and where it does not a single request shows what was left behind.
func (f *Foreign) askedAgain(ctx context.Context, c explore.Case, plays []explore.Play) []explore.Play {
	if f.judge.Recovery > 0 {
		return f.asking().untilFinal(ctx, c, plays, f.judge.Recovery)
	}
	return f.asking().once(ctx, c, plays)
}

// System puts a scenario on the lab's stage.
func (f *Foreign) System(s explore.Scenario) explore.System { return f.stage.System(s) }

func (f *Foreign) actor(client *explore.Client, name, class, body string) explore.Actor {
	return explore.Actor{Name: name, Class: class, Act: func(ctx context.Context, c explore.Case) explore.Play {
		return client.Play(client.Send(ctx, c, f.request(c, body)))
	}}
}

// request is the target's request under a case's key. What it asks for is its template: the same under a key, whatever is generated.
func (f *Foreign) request(c explore.Case, body string) explore.Request {
	t := f.opts.Target
	return explore.Request{
		Method: t.Request.Method, Path: t.Generated(t.Request.Path, c.Key), Body: t.Generated(body, c.Key), Meaning: body,
		Sign: func(h http.Header, c explore.Case) { t.Sign(h, c.Key) },
	}
}

// fresh is a key that nobody has used. The service's users are not ours to know: all requests are of one.
func (f *Foreign) fresh() explore.Case {
	return explore.Case{Began: time.Now(), Key: f.opts.Target.NewKey(), User: 1}
}

func (f *Foreign) asking() asking {
	return asking{f.patient(), func(c explore.Case, a explore.Attempt) explore.Request { return f.request(c, a.Request) }}
}

// client is the n-th request's way to its server.
func (f *Foreign) client(n int) *explore.Client {
	if f.opts.Shared {
		return f.clients[0]
	}
	return f.clients[n]
}

// patient is the client that asks again, by a server of its own where there can be several.
func (f *Foreign) patient() *explore.Client { return f.clients[len(f.clients)-1] }

// Explore searches the lab's case. Whether reductions are sound here is for the target file to say.
func (f *Foreign) Explore(ctx context.Context, o explore.Options) (schedule.Result, error) {
	scenario, err := f.Scenario()
	if err != nil {
		return schedule.Result{}, err
	}
	o.Reduce = o.Reduce && f.opts.Target.Reduction && !f.opts.Shared
	o.Classes = scenario.Classes()
	result, err := explore.Search(ctx, f.System(scenario), o)
	result.Name, result.Actors, result.NotJudged = scenario.Name, scenario.Names(), f.notJudged()
	if s := result.Schedule; s != nil {
		s.Name, s.Actors, s.Setup = scenario.Name, scenario.Names(), f.setup()
	}
	return result, err
}

// setup is what a schedule file says about the lab, so that a replay builds the same one.
func (f *Foreign) setup() map[string]string {
	return map[string]string{
		"target": f.opts.Target.File(), "case": f.opts.Case, "requests": strconv.Itoa(f.opts.Requests),
		"shared": strconv.FormatBool(f.opts.Shared),
	}
}

// FromSetup gives the options of the lab that a schedule was found on. The target has to be loaded by who calls.
func (o ForeignOptions) FromSetup(setup map[string]string) ForeignOptions {
	o.Case, o.Shared = setup["case"], setup["shared"] == "true"
	o.Requests, _ = strconv.Atoi(setup["requests"]) // 0, and so the default, if it is missing
	return o
}

// notJudged lists the invariants that nothing was judged by, with why, by reason.
func (f *Foreign) notJudged() (out []string) {
	by := map[string][]string{}
	var reasons []string
	for _, id := range check.IDs() {
		why, unstated := f.promise.Unstated[id]
		if !unstated {
			continue
		}
		if by[why] == nil {
			reasons = append(reasons, why)
		}
		by[why] = append(by[why], id)
	}
	for _, why := range reasons {
		out = append(out, joined(by[why])+": "+why)
	}
	return out
}

// Close takes everything down, whatever was started, also when ctx has ended.
func (f *Foreign) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	var errs []error
	for _, client := range f.clients {
		client.Close()
	}
	for _, server := range f.servers {
		errs = append(errs, server.Stop(ctx))
	}
	if f.judge != nil {
		errs = append(errs, f.judge.Close(ctx))
	}
	if f.stage != nil {
		errs = append(errs, f.stage.Close(ctx))
	}
	for _, proxy := range f.proxies {
		errs = append(errs, proxy.Close())
	}
	if f.cluster != nil {
		errs = append(errs, f.cluster.Stop())
	}
	if f.provider != nil {
		errs = append(errs, f.provider.Close())
	}
	return errors.Join(errs...)
}
