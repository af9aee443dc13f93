package schema

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// object is a JSON object of a schema.
type object = map[string]any

// generator makes one schema from a Go type. JSON files are ours: every field that is not omitted when empty is required. YAML files are
// written by people: only what rules name is required.
type generator struct {
	source source
	yaml   bool
	defs   object
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	planDuration = reflect.TypeFor[plan.Duration]()
	statusType   = reflect.TypeFor[verdict.Status]()
	bytesType    = reflect.TypeFor[[]byte]()
)

// durationForm is what time.ParseDuration takes, but for signs where a rule forbids them.
const durationForm = `^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*)$`

// of is the schema of a type, with named structs as references to definitions.
func (g *generator) of(t reflect.Type) object {
	switch {
	case t == timeType:
		return object{"type": "string", "format": "date-time"}
	case t == planDuration, t == durationType && g.yaml:
		return object{"type": "string", "pattern": durationForm}
	case t == durationType:
		return object{"type": "integer", "description": "nanoseconds"}
	case t == statusType:
		return object{"enum": []string{"not judged", "held", "violated", "inconclusive"}}
	case t == bytesType:
		return object{"type": "string", "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Struct:
		return g.reference(t)
	case reflect.Slice:
		return object{"type": "array", "items": g.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.of(t.Elem())}
	case reflect.String:
		return g.text(t)
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	}
	return object{"type": "integer"}
}

// text is any, or one of the constants of its type; what people may leave out is "" where the file is written out whole.
func (g *generator) text(t reflect.Type) object {
	values := g.source.values[typeName(t)]
	if len(values) == 0 || t.PkgPath() == "" {
		return object{"type": "string"}
	}
	if g.yaml {
		values = append([]string{""}, values...)
	}
	return object{"enum": slices.Compact(values)}
}

func (g *generator) reference(t reflect.Type) object {
	name := typeName(t)
	if _, known := g.defs[name]; !known {
		g.defs[name] = nil // a type may hold itself
		g.defs[name] = g.structure(t)
	}
	return object{"$ref": "#/$defs/" + name}
}

func (g *generator) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	g.addFields(t, properties, &required)
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if text := g.source.comments[typeName(t)]; text != "" {
		out["description"] = text
	}
	if g.yaml {
		required = requiredInYAML[typeName(t)]
	}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = required
	}
	if adjust, ok := adjustments[typeName(t)]; ok {
		adjust(out, properties)
	}
	return out
}

func (g *generator) addFields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			g.addFields(f.Type, properties, required)
			continue
		}
		tag := f.Tag.Get("json")
		if g.yaml {
			tag = f.Tag.Get("yaml")
		}
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || name == "-" || name == "" {
			continue
		}
		omitted := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		properties[name] = g.field(t, f, omitted)
		if !omitted {
			*required = append(*required, name)
		}
	}
}

// field describes a field, and lets what Go writes as null be null.
func (g *generator) field(t reflect.Type, f reflect.StructField, omitted bool) object {
	out := g.of(f.Type)
	nilable := slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer}, f.Type.Kind())
	if nilable && (!omitted || g.yaml) {
		out = object{"anyOf": []object{out, {"type": "null"}}}
	}
	if text := g.source.comments[typeName(t)+"."+f.Name]; text != "" {
		out["description"] = text
	}
	for key, value := range constraints[typeName(t)+"."+f.Name] {
		if out[key] = value; value == nil {
			delete(out, key)
		}
	}
	return out
}

// root puts a type's schema at the top of a file.
func (g *generator) root(name, title string, t reflect.Type) object {
	g.defs = object{}
	g.reference(t)
	top := g.defs[typeName(t)].(object)
	out := object{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": Base + name, "title": title}
	for key, value := range top {
		out[key] = value
	}
	delete(g.defs, typeName(t))
	if len(g.defs) > 0 {
		out["$defs"] = g.defs
	}
	return out
}
