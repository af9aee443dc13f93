// Package openapi reads of an OpenAPI 3 document what a target file needs to know of one operation: where it is, how it is asked, what its
// key's header is called, and a body that fits its schema.
//
// It stands before the walk, beside specfile: its result is a draft that a person completes.
package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Operation is one operation of a document.
type Operation struct {
	ID     string
	Title  string            // of the document
	Server string            // the first server's URL; "" if there is none
	Method string            // in capitals
	Path   string            // with examples in the place of its parameters
	Body   string            // JSON with generated fields; "" for none
	Header string            // of the key; "" if no parameter looks like one
	Auth   map[string]string // headers, with placeholders for what is secret
	Marker string            // response header that tells a replay, if one is documented
	Notes  []string          // what was guessed
}

// document is an OpenAPI document as plain values.
type document map[string]any

// methods are those of operations that change something.
var methods = []string{"post", "put", "patch", "delete"}

// Read finds an operation by its id, or by method and path such as "POST /orders"; "" takes the only one that posts.
func Read(data []byte, operation string) (Operation, error) {
	doc, err := parse(data)
	if err != nil {
		return Operation{}, err
	}
	if version, _ := doc["openapi"].(string); !strings.HasPrefix(version, "3.") {
		return Operation{}, errors.New("openapi: this is no OpenAPI 3 document; convert it, or write the target file by hand")
	}
	found, err := doc.find(operation)
	if err != nil {
		return Operation{}, err
	}
	return found.read(doc), nil
}

func parse(data []byte) (doc document, err error) {
	defer func() {
		if v := recover(); v != nil { // the YAML library's, on some nonsense
			err = fmt.Errorf("this is neither YAML nor JSON that can be read: %v", v)
		}
	}()
	if strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		err = json.Unmarshal(data, &doc)
	} else {
		err = yaml.Unmarshal(data, &doc)
	}
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
		return nil, fmt.Errorf("this is neither YAML nor JSON that can be read: %s", first)
	}
	return doc, nil
}

// place is an operation where it stands.
type place struct {
	method, path string
	item         map[string]any // of the path
	operation    map[string]any
}

func (p place) id() string {
	if id, _ := p.operation["operationId"].(string); id != "" {
		return id
	}
	return strings.ToUpper(p.method) + " " + p.path
}

func (d document) places() (list []place) {
	paths := object(d["paths"])
	for _, path := range sorted(paths) {
		item := d.resolve(paths[path])
		for _, method := range methods {
			if op := object(item[method]); op != nil {
				list = append(list, place{method, path, item, op})
			}
		}
	}
	return list
}

func (d document) find(name string) (place, error) {
	list := d.places()
	var posts []place
	var ids []string
	for _, p := range list {
		if name != "" && (p.id() == name || strings.EqualFold(strings.ToUpper(p.method)+" "+p.path, name)) {
			return p, nil
		}
		if p.method == "post" {
			posts = append(posts, p)
		}
		ids = append(ids, p.id())
	}
	switch {
	case len(list) == 0:
		return place{}, errors.New("paths: no operation changes anything; a target needs a POST, PUT, PATCH or DELETE")
	case name == "" && len(posts) == 1:
		return posts[0], nil
	case name == "":
		return place{}, fmt.Errorf("--operation: there are several; name one of %s", strings.Join(ids, ", "))
	}
	return place{}, fmt.Errorf("--operation: %q is none of %s", name, strings.Join(ids, ", "))
}

func (p place) read(d document) Operation {
	o := Operation{ID: p.id(), Method: strings.ToUpper(p.method), Path: p.path, Auth: d.auth(p.operation)}
	o.Title, _ = object(d["info"])["title"].(string)
	if servers, _ := d["servers"].([]any); len(servers) > 0 {
		o.Server, _ = d.resolve(servers[0])["url"].(string)
	}
	for _, parameter := range p.parameters(d) {
		o.parameter(d, parameter)
	}
	for _, name := range pathParameter.FindAllString(o.Path, -1) {
		o.Notes = append(o.Notes, fmt.Sprintf("request.path: %s has no example in the document, and is 1 here", name))
	}
	o.Path = pathParameter.ReplaceAllString(o.Path, "1")
	o.Body = d.body(p.operation, &o)
	o.Marker = d.marker(p.operation)
	return o
}

var pathParameter = regexp.MustCompile(`\{[^{}]*\}`)

// parameters are those of the operation and of its path.
func (p place) parameters(d document) (list []map[string]any) {
	for _, holder := range []map[string]any{p.item, p.operation} {
		all, _ := holder["parameters"].([]any)
		for _, parameter := range all {
			list = append(list, d.resolve(parameter))
		}
	}
	return list
}

var keyHeader = regexp.MustCompile(`(?i)idempoten|request-?id|retry-?key`)

func (o *Operation) parameter(d document, parameter map[string]any) {
	name, _ := parameter["name"].(string)
	switch parameter["in"] {
	case "header":
		if keyHeader.MatchString(name) && (o.Header == "" || strings.Contains(strings.ToLower(name), "idempoten")) {
			o.Header = name
		}
	case "path":
		if text, ok := plainExample(d, parameter); ok {
			o.Path = strings.ReplaceAll(o.Path, "{"+name+"}", url.PathEscape(text))
		}
	}
}

func plainExample(d document, parameter map[string]any) (string, bool) {
	for _, holder := range []map[string]any{parameter, d.resolve(parameter["schema"])} {
		for _, field := range []string{"example", "default"} {
			if v, ok := holder[field]; ok {
				return fmt.Sprint(v), true
			}
		}
	}
	return "", false
}

// auth is what the operation's first security scheme asks for.
func (d document) auth(operation map[string]any) map[string]string {
	wanted, ok := operation["security"].([]any)
	if !ok {
		wanted, _ = d["security"].([]any)
	}
	schemes := object(object(d["components"])["securitySchemes"])
	for _, alternative := range wanted {
		for _, name := range sorted(object(alternative)) {
			if headers := headersOf(d.resolve(schemes[name])); headers != nil {
				return headers
			}
		}
	}
	return nil
}

func headersOf(scheme map[string]any) map[string]string {
	name, _ := scheme["name"].(string)
	kind, _ := scheme["scheme"].(string)
	switch {
	case scheme["type"] == "apiKey" && scheme["in"] == "header" && name != "":
		return map[string]string{name: "KEY"}
	case scheme["type"] == "http" && strings.EqualFold(kind, "basic"):
		return map[string]string{"Authorization": "Basic BASE64"}
	case scheme["type"] == "http", scheme["type"] == "oauth2", scheme["type"] == "openIdConnect":
		return map[string]string{"Authorization": "Bearer TOKEN"}
	}
	return nil
}

var replayHeader = regexp.MustCompile(`(?i)replay`)

// marker is a documented response header that speaks of replays.
func (d document) marker(operation map[string]any) string {
	responses := object(operation["responses"])
	for _, status := range sorted(responses) {
		for _, name := range sorted(object(d.resolve(responses[status])["headers"])) {
			if replayHeader.MatchString(name) {
				return name
			}
		}
	}
	return ""
}

// resolve follows local references; what leads nowhere, or in a circle, is empty.
func (d document) resolve(v any) map[string]any {
	for range maxDepth {
		o := object(v)
		ref, ok := o["$ref"].(string)
		if !ok {
			return o
		}
		v = d.at(ref)
	}
	return nil
}

func (d document) at(ref string) any {
	pointer, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil
	}
	var v any = map[string]any(d)
	for _, name := range strings.Split(pointer, "/") {
		v = object(v)[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return v
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func sorted(o map[string]any) (names []string) {
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
