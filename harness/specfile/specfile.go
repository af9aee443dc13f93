// Package specfile reads the YAML files that people write, scenarios and target files, strictly: whatever is not understood is
// answered in one line that says where it stands, which field it is, and what to write instead.
//
// It stands before the walk, under those who own such a file's type, and knows none of them.
package specfile

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
)

// Decode reads data into a struct; name stands for the file in errors, which read "file:line:column: field: what is wrong; cure".
func Decode(name string, data []byte, into any) error {
	err := decode(data, into)
	if err == nil {
		return nil
	}
	at, message := cut(err)
	return fmt.Errorf("%s:%s: %s", name, at, explain(data, at, message, reflect.TypeOf(into).Elem()))
}

// Place puts the file and the line of a field before an error that begins with the field: "start.ready: …". Of a field that is not in the
// file, it is the line of what should hold it.
func Place(name string, data []byte, err error) error {
	return fmt.Errorf("%s:%s: %w", name, position(data, err), err)
}

// decode survives the YAML library's panics on some nonsense, which must not be a user's first impression.
func decode(data []byte, into any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("this is not YAML that can be read: %v", v)
		}
	}()
	return yaml.UnmarshalWithOptions(data, into, yaml.Strict())
}

var annotated = regexp.MustCompile(`^\[(\d+:\d+)\] (.*)`)

// cut turns the YAML library's "[line:column] message" and excerpt into a place and one line.
func cut(err error) (at, message string) {
	first, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
	if m := annotated.FindStringSubmatch(first); m != nil {
		return m[1], m[2]
	}
	return "1:1", first
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
