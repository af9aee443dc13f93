package plan

import (
	"fmt"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Std is d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String is the form that scenario files use.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes "250ms"; it serves JSON and YAML.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "250ms" or "2s". A number without a unit is refused, since nobody can know what it counts.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 250ms or 2s", b)
	}
	*d = Duration(v)
	return nil
}

// UnmarshalYAML is UnmarshalText with the place in the file in its error.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	text := node.String()
	if s, ok := node.(*ast.StringNode); ok {
		text = s.Value
	}
	if err := d.UnmarshalText([]byte(text)); err != nil {
		return &yaml.SyntaxError{Message: err.Error(), Token: node.GetToken()}
	}
	return nil
}
