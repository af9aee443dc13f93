package idempotency

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestKeyHasOneForm(t *testing.T) {
	const canonical = "0f8fad5b-d9cb-469f-a165-70867728950e"
	for name, c := range map[string]struct {
		values []string
		key    string
		err    error
	}{
		"absent":      {nil, "", nil},
		"canonical":   {[]string{canonical}, canonical, nil},
		"upper case":  {[]string{strings.ToUpper(canonical)}, canonical, nil},
		"nil UUID":    {[]string{"00000000-0000-0000-0000-000000000000"}, "00000000-0000-0000-0000-000000000000", nil},
		"empty":       {[]string{""}, "", ErrMalformedKey},
		"twice":       {[]string{canonical, canonical}, "", ErrMalformedKey},
		"urn":         {[]string{"urn:uuid:" + canonical}, "", ErrMalformedKey},
		"braces":      {[]string{"{" + canonical + "}"}, "", ErrMalformedKey},
		"32 digits":   {[]string{strings.ReplaceAll(canonical, "-", "")}, "", ErrMalformedKey},
		"space":       {[]string{" " + canonical[1:]}, "", ErrMalformedKey},
		"dash moved":  {[]string{"0f8fad5bd-9cb-469f-a165-70867728950e"}, "", ErrMalformedKey},
		"not hex":     {[]string{"g" + canonical[1:]}, "", ErrMalformedKey},
		"wide digits": {[]string{"０" + canonical[3:]}, "", ErrMalformedKey},
	} {
		key, err := ContractMatcher{}.Key(http.Header{KeyHeader: c.values})
		if key != c.key || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, key, err, c.key, c.err)
		}
	}
}

func hashOf(method, target, body string) string {
	return ContractMatcher{}.Hash(&Request{HTTP: httptest.NewRequest(method, target, nil), Body: []byte(body)})
}

func TestSpellingsOfOneBodyHaveOneHash(t *testing.T) {
	for _, group := range [][]string{
		{`{"a":1,"b":[1,2]}`, `{"b":[1,2],"a":1}`, " {\t\"a\" :\n1 , \"b\":[ 1,2 ]}\r\n"},
		{`{"a":{"y":1,"x":{"d":1,"c":2}}}`, `{"a":{"x":{"c":2,"d":1},"y":1}}`},
		{`"a/\u0062\u00e9\ud83d\ude00\n"`, `"a\/bé😀\u000a"`},
		{`{"\u0061":1}`, `{"a":1}`},
		{`[]`, ` [ ] `},
		{`{}`, `{ }`},
	} {
		for _, body := range group[1:] {
			if hashOf("POST", "/p", body) != hashOf("POST", "/p", group[0]) {
				t.Errorf("%s and %s are one body, and have two hashes", group[0], body)
			}
		}
	}
}

func TestDifferentRequestsHaveDifferentHashes(t *testing.T) {
	seen := map[string]string{}
	add := func(name, hash string) {
		if other, taken := seen[hash]; taken {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[hash] = name
	}
	for _, body := range []string{
		`1`, `1.0`, `1e0`, `10e-1`, `-0`, `0`, `9007199254740992`, `9007199254740993`, `"1"`, `null`, `"null"`, `true`, `false`,
		``, ` `, `{`, `{{`, `nul`, `{"a":1}`, `{"a":null}`, `{}`, `[]`, `[1,2]`, `[2,1]`, `[[1],2]`, `{"a":1,"a":2}`, `{"a":2,"a":1}`,
		`{"a":"\u0000"}`, `{"a":""}`, `"\ud800"`, `"\ud801"`, `"\udc00"`, `"\ud800\ud800"`, `"\ufffd"`, "\"\xed\xa0\x80\"", "\xff", "\xfe",
		`{"a":"\","}`, `{"a":"\"b"}`, `"\\u0061"`, `"a"`,
	} {
		add("body "+body, hashOf("POST", "/p", body))
	}
	add("another method", hashOf("PUT", "/p", `1`))
	add("another path", hashOf("POST", "/q", `1`))
	add("an escaped path", hashOf("POST", "/a%2Fb", `1`))
	add("the path it is not", hashOf("POST", "/a/b", `1`))
	add("a query", hashOf("POST", "/p?a=1", `1`))
	add("another value", hashOf("POST", "/p?a=2", `1`))
	add("values in another order", hashOf("POST", "/p?a=2&a=1", `1`))
	add("values in order", hashOf("POST", "/p?a=1&a=2", `1`))
	add("a query that is none", hashOf("POST", "/p?a=%zz", `1`))
}

func TestQueryHasOneSpelling(t *testing.T) {
	if hashOf("POST", "/p?b=2&a=%31", ``) != hashOf("POST", "/p?a=1&b=2", ``) {
		t.Fatal("the order of a query's names, or its escapes, changed the hash")
	}
}

// value draws a JSON value as Go data.
func value() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	)
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(leaf, 0, 4), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(rapid.String(), leaf, 0, 4), func(m map[string]any) any { return m }))
}

func TestCanonicalFormKeepsTheValueAndIsItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		indented, err := json.MarshalIndent(value().Draw(t, "value"), " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		canonical, ok := canonicalJSON(indented)
		if !ok || !sameJSON(indented, canonical) {
			t.Fatalf("%s became %s", indented, canonical)
		}
		if again, _ := canonicalJSON(canonical); !bytes.Equal(again, canonical) {
			t.Fatalf("%s is not canonical: %s", canonical, again)
		}
	})
}

func sameJSON(a, b []byte) bool {
	decode := func(text []byte) (v any) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if d.Decode(&v) != nil {
			return nil
		}
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b))
}

func FuzzCanonicalJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\ud83d\ude00"}]}`, `"\ud800x"`, `[[[]]]`, `-1.5e+7`, `{"":{}}`, "\xff", ` "\"\\\/" `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		canonical, ok := canonicalJSON(body)
		if !ok {
			return
		}
		// A lone surrogate is not valid UTF-8 in the canonical form, and is U+FFFD to encoding/json: compare the rest.
		if again, ok := canonicalJSON(canonical); ok && !bytes.Equal(again, canonical) {
			t.Fatalf("%q is not canonical: %q", canonical, again)
		}
		if !bytes.Contains(bytes.ToLower(body), []byte(`\ud`)) && !sameJSON(body, canonical) {
			t.Fatalf("%q became %q", body, canonical)
		}
	})
}

func FuzzKey(f *testing.F) {
	f.Add("0f8fad5b-d9cb-469f-a165-70867728950e")
	f.Add("{0f8fad5b-d9cb-469f-a165-70867728950e}")
	f.Fuzz(func(t *testing.T, s string) {
		key, err := ContractMatcher{}.Key(http.Header{KeyHeader: {s}})
		if err == nil && (len(key) != 36 || key != strings.ToLower(s)) {
			t.Fatalf("%q became %q", s, key)
		}
	})
}
