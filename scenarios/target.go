package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/subject"
)

//go:embed target/*.yaml
var targetFiles embed.FS

// ForTargets are the built-in scenarios for somebody else's server, in the order in which they are run: what costs least comes first.
func ForTargets() ([]Scenario, error) {
	var out []Scenario
	for _, name := range []string{"answers", "race", "mismatch", "storm", "outage", "crash"} {
		file := "target/" + name + ".yaml"
		data, err := fs.ReadFile(targetFiles, file)
		if err != nil {
			return nil, fmt.Errorf("read built-in %s: %w", file, err)
		}
		s, err := Parse(file, data)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// FindForTarget returns the built-in scenario for targets of that name, or loads the file of that path when it looks like one.
func FindForTarget(nameOrFile string) (Scenario, error) {
	if ext := path.Ext(nameOrFile); ext == ".yaml" || ext == ".yml" || strings.ContainsRune(nameOrFile, os.PathSeparator) {
		return Load(nameOrFile)
	}
	all, err := ForTargets()
	if err != nil {
		return Scenario{}, err
	}
	var names []string
	for _, s := range all {
		if s.Name == nameOrFile {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("%w for a target: %q is none of %s, and not a .yaml file", ErrUnknown, nameOrFile, strings.Join(names, ", "))
}

// ofTarget says whether the scenario asks a target, whose thresholds are its own.
func (s Scenario) ofTarget() bool {
	return slices.ContainsFunc(s.Workload.Phases, func(ph plan.Phase) bool { return ph.Mix[contract.ServiceRoute] > 0 })
}

// Suits says why a scenario cannot be run on a target; nil if it can. The error names the field of the target file that is missing, or that of
// the scenario that is of the bundled server.
func (s Scenario) Suits(t subject.Target) error {
	for i, ph := range s.Workload.Phases {
		if err := suitsPhase(ph, t); err != nil {
			return fmt.Errorf("workload.phases[%d]: %w", i, err)
		}
	}
	for i, f := range s.Faults {
		if err := suitsFault(f, t); err != nil {
			return fmt.Errorf("faults[%d]: %w", i, err)
		}
	}
	switch spec := s.Subject; {
	case spec.Standby != "" || spec.PgBouncer:
		return errors.New("subject: standby and pgbouncer are of the bundled server; leave them out for a target")
	case t.Running() && fault.NeedsPostgres(s.Faults):
		return errors.New("faults: they strike PostgreSQL itself, and the service's own is not ours to change; write start instead of url")
	}
	return nil
}

func suitsPhase(ph plan.Phase, t subject.Target) error {
	for route := range ph.Mix {
		if route != contract.ServiceRoute {
			return fmt.Errorf("mix.%s: it is a route of the bundled server; write {%s: 1} for a target", route, contract.ServiceRoute)
		}
	}
	if len(ph.Mix) == 0 && ph.Shape != "again" {
		return fmt.Errorf("mix: missing; write {%s: 1} for a target", contract.ServiceRoute)
	}
	if ph.Shape == "rivals" && t.OtherBody == "" {
		return errors.New("other_body: missing in the target file; rivals need one that asks for something else")
	}
	if ph.Shape == "situations" && t.Promise.Profile == "" {
		return fmt.Errorf("contract.profile: missing in the target file; situations are its rows: write one of %s", strings.Join(contract.ProfileNames(), ", "))
	}
	return nil
}

// strikable is what of somebody else's server can be struck.
var strikable = []fault.Target{fault.Database, fault.Replica, fault.Postgres}

func suitsFault(f fault.Spec, t subject.Target) error {
	switch on := f.Target(); {
	case !slices.Contains(strikable, on):
		return fmt.Errorf("%s strikes %q, which a target has not; write on: database or on: replica", f.Kind, on)
	case t.Running() && on == fault.Replica:
		return fmt.Errorf("%s strikes a process, and the service is not started by idemstorm; write start instead of url", f.Kind)
	case t.Running() && t.Database.Listen == "":
		return fmt.Errorf("%s strikes the way to the database; write start instead of url, or database.listen with disposable: true, and point the service there", f.Kind)
	}
	return nil
}
