package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// FromHTTP reads a JSON array of executions, one object each.
func FromHTTP(ctx context.Context, url string, headers map[string]string, n Naming) ([]Execution, error) {
	body, err := fetchWith(ctx, url, headers)
	if err != nil {
		return nil, err
	}
	list, err := member(body, n.List)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(list, &objects); err != nil {
		return nil, fmt.Errorf("GET %s: no JSON array: %w", url, err)
	}
	out := []Execution{}
	for i, object := range objects {
		e, err := n.execution(object, i)
		if err != nil {
			return nil, fmt.Errorf("GET %s: object %d: %w", url, i+1, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func fetchWith(ctx context.Context, url string, headers map[string]string) ([]byte, error) {
	return fetch(ctx, url, func(h http.Header) {
		for name, value := range headers {
			h.Set(name, value)
		}
	})
}

// execution reads one object. One without the name is somebody else's.
func (n Naming) execution(object []byte, place int) (e Execution, err error) {
	if e.Columns, err = columnsOf(object); err != nil {
		return e, err
	}
	e.ID = strconv.Itoa(place + 1)
	if n.ID != "" {
		e.ID = textAt(object, n.ID)
	}
	e.Name = strings.Trim(textAt(object, n.Name), `"`)
	return e, nil
}

// textAt is a member as text; "" if there is none.
func textAt(object []byte, path string) string {
	raw, err := member(object, path)
	if err != nil {
		return ""
	}
	var l loose
	if l.UnmarshalJSON(raw) != nil {
		return ""
	}
	return string(l)
}

// member follows a path such as a.b through objects; "" is the whole.
func member(object []byte, path string) ([]byte, error) {
	if path == "" {
		return object, nil
	}
	for _, name := range strings.Split(path, ".") {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(object, &members); err != nil {
			return nil, fmt.Errorf("%s is in no object", name)
		}
		next, ok := members[name]
		if !ok {
			return nil, fmt.Errorf("there is no member %s beside %s", name, strings.Join(slices.Sorted(maps.Keys(members)), ", "))
		}
		object = next
	}
	return object, nil
}

// columnsOf are the members of an object, as text.
func columnsOf(object []byte) (map[string]string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	columns := map[string]string{}
	for name, value := range members {
		var l loose
		if l.UnmarshalJSON(value) == nil {
			columns[name] = string(l)
		} else {
			columns[name] = string(value)
		}
	}
	return columns, nil
}
