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

	"github.com/idemstorm/idemstorm/harness/specfile"
)

//go:embed *.yaml
var files embed.FS

// ErrUnknown is wrapped by errors about a scenario or suite that does not exist.
var ErrUnknown = errors.New("no such scenario")

// All returns the built-in scenarios in the order of their names.
func All() ([]Scenario, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list the built-in scenarios: %w", err)
	}
	var out []Scenario
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read built-in %s: %w", name, err)
		}
		s, err := Parse(name, data)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Suite returns the built-in scenarios of a suite, in the order of their names.
func Suite(suite string) ([]Scenario, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	in := slices.DeleteFunc(slices.Clone(all), func(s Scenario) bool { return !slices.Contains(s.Suites, suite) })
	if len(in) == 0 {
		return nil, fmt.Errorf("%w: suite %q is none of %s", ErrUnknown, suite, strings.Join(suites(all), ", "))
	}
	return in, nil
}

func suites(all []Scenario) []string {
	var out []string
	for _, s := range all {
		out = append(out, s.Suites...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Find returns the built-in scenario of that name, or loads the file of that path when it looks like one.
func Find(nameOrFile string) (Scenario, error) {
	if ext := path.Ext(nameOrFile); ext == ".yaml" || ext == ".yml" || strings.ContainsRune(nameOrFile, os.PathSeparator) {
		return Load(nameOrFile)
	}
	all, err := All()
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
	return Scenario{}, fmt.Errorf("%w: %q is none of %s, and not a .yaml file", ErrUnknown, nameOrFile, strings.Join(names, ", "))
}

// Load reads a scenario file.
func Load(file string) (Scenario, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Scenario{}, fmt.Errorf("read the scenario: %w", err)
	}
	return Parse(file, data)
}

// Parse reads a scenario from data; name stands for the file in errors, which read "file:line:column: what is wrong".
func Parse(name string, data []byte) (Scenario, error) {
	var s Scenario
	if err := specfile.Refuse(name, data, Version); err != nil {
		return Scenario{}, err
	}
	if err := specfile.Decode(name, data, &s); err != nil {
		return Scenario{}, err
	}
	s = s.complete()
	if err := s.Validate(); err != nil {
		return Scenario{}, specfile.Place(name, data, err)
	}
	return s, nil
}
