package check

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestBodiesAreComparedByValue(t *testing.T) {
	cases := []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":2}`, "{ \"b\" : 2,\n\"a\":1}", true},
		{`{"a":1}`, `{"a":1,"idempotency_replayed":true}`, true},
		{`{"a":{"idempotency_replayed":true}}`, `{"a":{}}`, false}, // the marker is at the top or it is data
		{`{"a":"A\/"}`, `{"\u0061":"\u0041/"}`, true},
		{`1.0`, `1`, true},
		{`100`, `1e2`, true},
		{`-0`, `0`, true},
		{`0.10`, `1E-1`, true},
		{`9007199254740992`, `9007199254740993`, false},
		{`1e999999999999999999999`, `1e999999999999999999998`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[[1],2]`, `[1,[2]]`, false},
		{`{"a":null}`, `{}`, false},
		{`"1"`, `1`, false},
		{`true`, `"true"`, false},
		{`{"a":"b","c":"d"}`, `{"a":"d","c":"b"}`, false},
		{`not JSON`, `not json`, false},
		{`not JSON`, `not JSON`, true},
		{``, `null`, false},
		{`{"a":1}}`, `{"a":1}`, false},
		{`{"a":01}`, `{"a":1}`, false},
	}
	for _, c := range cases {
		if same := bodyHash([]byte(c.a)) == bodyHash([]byte(c.b)); same != c.same {
			t.Errorf("%s and %s: same is %t", c.a, c.b, same)
		}
	}
}

// jsonValue draws a value that encoding/json can write in two forms.
func jsonValue() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "text") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Int64().Draw(t, "number") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "bool") }),
		rapid.Just[any](nil),
	)
	list := rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(leaf, 0, 4).Draw(t, "list") })
	return rapid.Custom(func(t *rapid.T) any {
		return rapid.MapOfN(rapid.String(), rapid.OneOf(leaf, list), 0, 5).Draw(t, "object")
	})
}

func TestIndentedAndCompactBodiesAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		compact, err := json.Marshal(jsonValue().Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, compact, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if bodyHash(compact) != bodyHash(indented.Bytes()) {
			t.Fatalf("%s and %s differ", compact, indented.Bytes())
		}
		if bodyHash(compact) == bodyHash(append(compact, 'x')) {
			t.Fatal("a broken body equals a whole one")
		}
	})
}

func FuzzBodyHashNeverFails(f *testing.F) {
	for _, seed := range []string{``, `{`, `{"a"`, `[1,`, `"\u00`, `-`, `{"a":1}x`, `[[[[`, "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if bodyHash(body) != bodyHash(bytes.Clone(body)) {
			t.Error("the hash depends on more than the bytes")
		}
	})
}
