package specfile

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// explain adds to the library's message which field it is about, and what may stand there.
func explain(data []byte, at, message string, root reflect.Type) string {
	path := pathAt(data, at)
	field := strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	if strings.HasPrefix(message, "unknown field") {
		return message + knownBeside(root, field)
	}
	if wanted := typeAt(root, field); wanted != nil && path != "" {
		if cure := wants(wanted); cure != "" {
			return strings.TrimPrefix(field+": ", ": ") + plain(message) + "; " + cure
		}
	}
	return message
}

// plain leaves the names of Go's types out.
func plain(message string) string {
	what, _, found := strings.Cut(message, " into Go struct field")
	if !found {
		return message
	}
	return strings.NewReplacer("cannot unmarshal ", "this is of the wrong kind: ", "[]interface {}", "a list", "map[string]interface {}", "a mapping",
		"uint64", "a number", "float64", "a number").Replace(what)
}

// wants says in an example what a field of a type may hold.
func wants(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "write a text, in quotes if in doubt"
	case reflect.Bool:
		return "write true or false"
	case reflect.Int, reflect.Int64:
		return "write a whole number"
	case reflect.Slice:
		return "write a list, such as [a, b]"
	case reflect.Map:
		return "write a mapping, such as {name: value}"
	case reflect.Struct:
		return "write a mapping of " + strings.Join(fieldsOf(t), ", ")
	}
	return ""
}

// knownBeside lists what may stand where an unknown field does.
func knownBeside(root reflect.Type, field string) string {
	parent := field[:max(0, strings.LastIndex(field, "."))]
	t := typeAt(root, parent)
	if t == nil || t.Kind() != reflect.Struct || len(fieldsOf(t)) == 0 {
		return ""
	}
	where := ""
	if parent != "" {
		where = " in " + parent
	}
	return fmt.Sprintf("%s; what may stand here is %s", where, strings.Join(fieldsOf(t), ", "))
}

func fieldsOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// typeAt follows a path such as "start.command[0]" through a type; nil where it leaves it.
func typeAt(t reflect.Type, path string) reflect.Type {
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' }) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch {
		case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
			t = t.Elem()
		case t.Kind() == reflect.Struct:
			if t = fieldNamed(t, name); t == nil {
				return nil
			}
		default:
			return nil
		}
	}
	return t
}

func fieldNamed(t reflect.Type, name string) reflect.Type {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); tag == name {
			return t.Field(i).Type
		}
	}
	return nil
}

// pathAt is the path of the innermost node that begins at a place; "" where none does, or the file is no YAML.
func pathAt(data []byte, at string) (path string) {
	defer func() { _ = recover() }() // of the library's, as in decode: the message does without the path
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return ""
	}
	f := finder{at: at}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			ast.Walk(&f, doc.Body)
		}
	}
	return f.path
}

type finder struct{ at, path string }

// Visit implements ast.Visitor.
func (f *finder) Visit(n ast.Node) ast.Visitor {
	if token := n.GetToken(); token != nil && token.Position != nil {
		pos := token.Position
		if fmt.Sprintf("%d:%d", pos.Line, pos.Column) == f.at && len(n.GetPath()) >= len(f.path) {
			f.path = n.GetPath()
		}
	}
	return f
}
