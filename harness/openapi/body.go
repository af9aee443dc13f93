package openapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxDepth bounds how deep a schema is followed, since it may refer to itself.
const maxDepth = 12

// body makes a body from the operation's example, or else from its schema.
func (d document) body(operation map[string]any, o *Operation) string {
	content := object(d.resolve(operation["requestBody"])["content"])
	media := d.resolve(content["application/json"])
	if media == nil {
		for _, name := range sorted(content) {
			o.Notes = append(o.Notes, fmt.Sprintf("request.headers: the document asks for %s; write the Content-Type and the body by hand", name))
			return ""
		}
		return ""
	}
	if example, ok := exampleOf(d, media); ok {
		o.Notes = append(o.Notes, "request.body: it is the document's example; put {{unique}} into a field that the service stores, if it has one that must differ")
		return encoded(example)
	}
	m := maker{doc: d}
	text := m.value(media["schema"], "", 0)
	if !m.unique {
		o.Notes = append(o.Notes, "request.body: no field of it takes {{unique}}, so that evidence has to name the key")
	}
	return text
}

func exampleOf(d document, media map[string]any) (any, bool) {
	if example, ok := media["example"]; ok {
		return example, true
	}
	examples := object(media["examples"])
	for _, name := range sorted(examples) {
		if value, ok := d.resolve(examples[name])["value"]; ok {
			return value, true
		}
	}
	return nil, false
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil { // YAML has keys that JSON has not
		return "{}"
	}
	return string(data)
}

// maker makes one value of a schema, as JSON with generated fields.
type maker struct {
	doc    document
	unique bool // a field has taken {{unique}}
}

func (m *maker) value(schema any, name string, depth int) string {
	s := m.doc.resolve(schema)
	if depth > maxDepth || s == nil {
		return "null"
	}
	for _, field := range []string{"example", "const", "default"} {
		if v, ok := s[field]; ok {
			return encoded(v)
		}
	}
	if choices, _ := s["enum"].([]any); len(choices) > 0 {
		return choice(choices)
	}
	for _, field := range []string{"oneOf", "anyOf"} {
		if list, _ := s[field].([]any); len(list) > 0 {
			return m.value(list[0], name, depth+1)
		}
	}
	switch kindOf(s) {
	case "object":
		return m.object(s, depth)
	case "array":
		return "[" + m.value(s["items"], name, depth+1) + "]"
	case "integer":
		return number(s)
	case "number":
		return "1.5"
	case "boolean":
		return "true"
	}
	return m.text(s, name)
}

func kindOf(s map[string]any) string {
	kind, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok && len(list) > 0 { // 3.1: [string, "null"]
		kind, _ = list[0].(string)
	}
	if kind == "" && (s["properties"] != nil || s["allOf"] != nil) {
		return "object"
	}
	return kind
}

// object takes what is required, and the rest too where nothing is.
func (m *maker) object(s map[string]any, depth int) string {
	properties, required := map[string]any{}, []string{}
	m.gather(s, properties, &required, 0)
	var members []string
	for _, name := range sorted(properties) {
		property := m.doc.resolve(properties[name])
		if property["readOnly"] == true || len(required) > 0 && !slices.Contains(required, name) {
			continue
		}
		members = append(members, strconv.Quote(name)+": "+m.value(properties[name], name, depth+1))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// gather collects the properties of a schema and of all that it is composed of.
func (m *maker) gather(s, properties map[string]any, required *[]string, depth int) {
	for name, property := range object(s["properties"]) {
		properties[name] = property
	}
	names, _ := s["required"].([]any)
	for _, name := range names {
		*required = append(*required, fmt.Sprint(name))
	}
	parts, _ := s["allOf"].([]any)
	for _, part := range parts {
		if depth < maxDepth {
			m.gather(m.doc.resolve(part), properties, required, depth+1)
		}
	}
}

// choice draws among texts; of other values it takes the first.
func choice(values []any) string {
	var words []string
	for _, v := range values {
		word, ok := v.(string)
		if !ok || strings.ContainsAny(word, "|{}\"\\") {
			return encoded(values[0])
		}
		words = append(words, word)
	}
	return `"{{choice:` + strings.Join(words, "|") + `}}"`
}

// number draws between the schema's limits, or from 1 to 9.
func number(s map[string]any) string {
	low, high := 1, 9
	if v, ok := whole(s["minimum"]); ok && v >= 0 {
		low, high = v, v+8
	}
	if v, ok := whole(s["maximum"]); ok && v >= low {
		high = min(high, v)
	}
	return fmt.Sprintf("{{number:%d-%d}}", low, high)
}

func whole(v any) (int, bool) {
	n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	return int(n), err == nil && n == float64(int(n)) && n < 1e8
}

var referring = regexp.MustCompile(`(?i)ref|note|comment|description|external|memo|title|name|^id$|_id$`)

// text is one that fits the format. The first that may be anything takes {{unique}}.
func (m *maker) text(s map[string]any, name string) string {
	switch s["format"] {
	case "date-time":
		return `"{{timestamp}}"`
	case "date":
		return `"2026-01-01"`
	case "email":
		m.unique = true
		return `"{{unique}}@example.org"`
	case "uuid":
		return `"6b7dcab3-9eec-40b5-ad81-105ad1026a72"`
	case "uri", "url":
		return `"https://example.org/"`
	}
	if limit, ok := whole(s["maxLength"]); ok && limit < 12 || s["pattern"] != nil {
		return `"a"`
	}
	if !m.unique && referring.MatchString(name) {
		m.unique = true
		return `"{{unique}}"`
	}
	return `"text"`
}
