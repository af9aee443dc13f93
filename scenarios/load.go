package scenarios

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
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
	s, err := decode(data)
	if err != nil {
		return Scenario{}, fmt.Errorf("%s:%s", name, syntaxError(err))
	}
	s = s.complete()
	if err := s.Validate(); err != nil {
		return Scenario{}, fmt.Errorf("%s:%s: %w", name, position(data, err), err)
	}
	return s, nil
}

// decode survives the YAML library's panics on some nonsense, which must not be a user's first impression.
func decode(data []byte) (s Scenario, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("this is not YAML that can be read: %v", v)
		}
	}()
	err = yaml.UnmarshalWithOptions(data, &s, yaml.Strict())
	return s, err
}

var annotated = regexp.MustCompile(`^\[(\d+:\d+)\] (.*)`)

// syntaxError turns the YAML library's "[line:column] message" and excerpt into one line.
func syntaxError(err error) string {
	first, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
	if m := annotated.FindStringSubmatch(first); m != nil {
		return m[1] + ": " + m[2]
	}
	return "1:1: " + first
}

// position finds the line of the field that err begins with; of a field that is not in the file, the line of what should hold it.
func position(data []byte, err error) string {
	field, _, _ := strings.Cut(err.Error(), ":")
	for field != "" {
		if at, ok := lookUp(data, field); ok {
			return at
		}
		field = field[:max(0, strings.LastIndexAny(field, ".["))]
	}
	return "1:1"
}

func lookUp(data []byte, field string) (at string, ok bool) {
	defer func() { ok = ok && recover() == nil }()
	p, err := yaml.PathString("$." + field)
	if err != nil {
		return "", false
	}
	node, err := p.ReadNode(bytes.NewReader(data))
	if err != nil || node == nil {
		return "", false
	}
	pos := node.GetToken().Position
	return fmt.Sprintf("%d:%d", pos.Line, pos.Column), true
}
