package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// Counter is a source of a target's evidence that the caller of Run reads by itself, such as a Go test that counts in memory. Its name is among
// the target's Evidence.Counted.
type Counter struct {
	Name string
	Read func(context.Context, Asked) ([]evidence.Execution, error) // those executions that a name which is asked for has
}

// Asked are the names of a run's requests that executions may be found by, each once.
type Asked struct {
	Keys   []string // as they are kept, without the quotation marks that some are sent in
	Tokens []string // what {{unique}} was
}

func (o owners) asked() (a Asked) {
	for name, list := range o {
		if slices.ContainsFunc(list, func(w owner) bool { return w.key == name }) {
			a.Keys = append(a.Keys, name)
		} else {
			a.Tokens = append(a.Tokens, name)
		}
	}
	slices.Sort(a.Keys)
	slices.Sort(a.Tokens)
	return a
}

func (r *rig) readCounter(ctx context.Context, name string, owners owners) ([]evidence.Execution, error) {
	i := slices.IndexFunc(r.counted, func(c Counter) bool { return c.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("nothing reads it: no Counter of that name was given")
	}
	return r.counted[i].Read(ctx, owners.asked())
}

// unused refuses keys that a running service has executed already, which the same salt and seed have made before: what is found under them would
// be counted a second time.
func (r *rig) unused(ctx context.Context, o Options) error {
	if o.Target == nil || !o.Target.Running() || o.Salt == (subject.KeyBytes{}) {
		return nil
	}
	owners, err := ownersOf(filepath.Join(o.Dir, FilePlan))
	if err != nil {
		return err
	}
	for _, name := range r.target.Evidence.Sources() {
		list, err := r.readSource(ctx, name, owners)
		if err != nil {
			return fmt.Errorf("%w: %s: evidence.%s: %w", ErrUnreachable, r.target.File(), name, err)
		}
		if used := owners.attribute(list); len(used) > 0 {
			return fmt.Errorf("%w: %s: evidence.%s: shows executions under keys that seed %d is about to make, such as %s: the plan was run on this service before; start from an empty database, or take another seed",
				ErrTargetFile, r.target.File(), name, o.Seed, used[0].Name)
		}
	}
	return nil
}
