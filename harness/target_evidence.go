package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// The sources of a target's evidence, as its file names them.
const (
	sourceSQL      = "executions"
	sourceHTTP     = "http"
	sourceFile     = "file"
	sourceProvider = "provider"
)

// collectTarget reads what the run left behind at every place that the target file names: from the processes while they still run, and the
// rest when they have stopped, so that nothing can still be written.
func collectTarget(ctx context.Context, r *rig, o Options) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), collectWithin)
	defer cancel()
	owners, err := ownersOf(filepath.Join(o.Dir, FilePlan))
	if err != nil {
		return err
	}
	found := map[string][]evidence.Execution{}
	read := func(asked bool) error {
		for _, name := range r.target.Evidence.Sources() {
			if (name == sourceHTTP) != asked {
				continue
			}
			if found[name], err = r.readSource(ctx, name, owners); err != nil {
				return fmt.Errorf("%w: %s: evidence.%s: %w", ErrUnreachable, r.target.File(), name, err)
			}
		}
		return nil
	}
	if err := read(true); err != nil {
		return err
	}
	if err := r.stopReplicas(ctx); err != nil {
		return err
	}
	if err := read(false); err != nil {
		return err
	}
	return evidence.Save(filepath.Join(o.Dir, FileEvidence), r.setOf(found, owners))
}

// setOf makes the first source the one that is judged by. Charges are judged beside it.
func (r *rig) setOf(found map[string][]evidence.Execution, owners owners) (set evidence.Set) {
	route, _ := r.target.Contract().Route(contract.ServiceRoute)
	for _, name := range r.target.Evidence.Sources() {
		list := owners.attribute(found[name])
		source := evidence.Source{Name: name, Executions: []evidence.Execution{}}
		for _, a := range list {
			source.Executions = append(source.Executions, a.Execution)
		}
		set.Sources = append(set.Sources, source)
		switch {
		case set.Orders == nil:
			set.Orders = ordersOf(list, route.Scope())
		case name == sourceProvider:
			set.Charges = chargesOf(list)
		}
	}
	return set
}

// chargesOf are lines of the provider's ledger as the checks know them.
func chargesOf(list []attributed) []evidence.Charge {
	charges := []evidence.Charge{}
	for _, a := range list {
		charges = append(charges, evidence.Charge{ID: a.ID, Key: a.key, User: a.user, Operation: a.op})
	}
	return charges
}

// ordersOf are executions as the checks know them.
func ordersOf(list []attributed, scope string) []evidence.Order {
	orders := []evidence.Order{}
	for _, a := range list {
		orders = append(orders, evidence.Order{
			ID: a.ID, Execution: a.ID, User: a.user, Endpoint: scope, Key: a.key, Operation: a.op, Columns: a.Columns,
		})
	}
	return orders
}

// readSource reads one source.
func (r *rig) readSource(ctx context.Context, name string, owners owners) ([]evidence.Execution, error) {
	e := r.target.Evidence
	switch name {
	case sourceSQL:
		return evidence.FromSQL(ctx, r.evidenceDSN(), e.Executions, string(e.By), owners.names())
	case sourceHTTP:
		return evidence.FromHTTP(ctx, r.endpoint(e.HTTP.Path), e.HTTP.Headers, evidence.Naming{List: e.HTTP.List, Name: e.HTTP.Key + e.HTTP.Token, ID: e.HTTP.ID})
	case sourceFile:
		return r.readLines(e.File)
	case sourceProvider:
		charges, err := evidence.FromProvider(ctx, r.provider.URL())
		return evidence.FromLedger(charges), err
	}
	return r.readCounter(ctx, name, owners)
}

// evidenceDSN is the way to the target's database that no fault reaches.
func (r *rig) evidenceDSN() string {
	if r.target.Running() {
		return r.target.Database.URL
	}
	return r.store.dsn
}

func (r *rig) endpoint(path string) string {
	if strings.HasPrefix(path, "/") {
		return strings.TrimSuffix(r.urls()[0], "/") + path
	}
	return path
}

func (r *rig) readLines(l subject.TargetLines) ([]evidence.Execution, error) {
	paths := []string{r.target.LinesPath()}
	if l.Stdout() {
		paths = r.targetLogs()
	}
	var pattern *regexp.Regexp
	if l.Pattern != "" {
		pattern = regexp.MustCompile(l.Pattern) // Validate has refused another
	}
	return evidence.FromLines(paths, evidence.Naming{Name: l.Key + l.Token, ID: l.ID}, pattern)
}

// owner is who a name in a target's rows belongs to. op is that of a request whose key is none; 0 for any other.
type owner struct {
	key  string
	user int64
	op   int64
}

// owners are those of each name that rows may have: keys as they are stored, and planted tokens.
type owners map[string][]owner

// attributed is an execution, and whose it is.
type attributed struct {
	evidence.Execution
	owner
}

// ownersOf reads a run's plan.
func ownersOf(plan string) (owners, error) {
	out := owners{}
	for o, err := range history.ReadOperations(plan) {
		if err != nil {
			return nil, err
		}
		w := owner{key: o.Key, user: o.User}
		if o.Key == "" {
			w.op = o.ID
		}
		for _, name := range namesOf(o) {
			out.add(name, w)
		}
	}
	return out, nil
}

// namesOf are what a row may call an operation. A malformed key may be that of many.
func namesOf(o history.Operation) (names []string) {
	if o.Key != "" {
		names = append(names, o.Key)
	}
	if o.Token != "" {
		names = append(names, o.Token)
	}
	return names
}

func (o owners) add(name string, w owner) {
	for _, known := range o[name] {
		if known == w {
			return
		}
	}
	o[name] = append(o[name], w)
}

func (o owners) names() (out []string) {
	for name := range o {
		out = append(out, name)
	}
	return out
}

// attribute gives each execution its owner, and leaves out what is none of this run's. Where several users have sent one key, its executions
// are dealt to them in turn: each of them may have one.
func (o owners) attribute(list []evidence.Execution) (out []attributed) {
	dealt := map[string]int{}
	for _, e := range list {
		candidates := o[e.Name]
		if len(candidates) == 0 {
			continue
		}
		w := candidates[dealt[e.Name]%len(candidates)]
		dealt[e.Name]++
		e.Owner = evidence.Owner(w.key, w.user)
		out = append(out, attributed{e, w})
	}
	return out
}
