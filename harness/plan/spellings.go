package plan

import (
	"fmt"
	"strings"

	"github.com/idemstorm/idemstorm/harness/history"
)

// spellingsShape uses keys, clients, mix, retry. Every key is used once as it should be, and then, when that has settled, in every
// way that must or must not count as the same request.
var spellingsShape = Shape{
	Name: "spellings", bundled: true, build: buildSpellings,
	Does: "the same body spelled otherwise, other bodies under the same key, and the same key of other users and routes",
}

func buildSpellings(b *builder) {
	for i := 0; i < b.Keys && !b.done(); i++ {
		o := b.fresh(false)
		o.Client = i % b.Clients
		variants := b.variants(&o)
		if i%2 == 1 {
			o.Group = b.nextGroup() // the first variant races the original: only one of the two may execute
		}
		original := b.send(o)
		if i%2 == 1 {
			b.send(variants[0])
			variants = variants[1:]
		}
		for _, v := range variants {
			v.Group, v.After = 0, original
			b.send(v)
		}
		b.scopes(o, original)
	}
}

// variants gives o the body that they are variants of, and returns them; the first is another request.
func (b *builder) variants(o *history.Operation) (out []history.Operation) {
	switch o.Route {
	case "order":
		note := notes[int(b.serial)%len(notes)]
		qty := 1 + b.rnd.IntN(5)
		sym := symbol(b.rnd)
		o.Body = []byte(orderWith(sym, qty, note.body))
		out = append(out,
			b.other(*o, "quantity changed", orderWith(sym, qty+1, note.body)),
			b.other(*o, note.name, orderWith(sym, qty, note.other)),
			b.other(*o, "client_note left out", orderOf(sym, qty)),
			b.same(*o, "string escapes", orderWith(escapeFirst(sym), qty, note.body)),
		)
	case "close":
		other := b.other(*o, "other position", string(o.Body))
		route, _ := b.contract.Route("close")
		other.Path = fillPath(route, "999999999")
		out = append(out, other, b.other(*o, "one member more", `{"note":1}`))
	default:
		out = append(out, b.other(*o, "one member more", strings.TrimSuffix(string(o.Body), "}")+`,"note":1}`))
	}
	return append(out, b.generic(*o)...)
}

// generic are the variants of any JSON object.
func (b *builder) generic(o history.Operation) []history.Operation {
	body := string(o.Body)
	return []history.Operation{
		b.same(o, "byte for byte", body),
		b.same(o, "white space", " \n"+strings.NewReplacer("{", "{ ", "}", "\t}", ":", " :\r\n ").Replace(body)+"\n"),
		b.same(o, "key order", reorder(body)),
		b.other(o, "not JSON", strings.TrimSuffix(body, "}")),
		b.other(o, "another that is not JSON", strings.TrimSuffix(body, "}")+"]"),
		b.other(o, "empty", ""),
		b.other(o, "null", "null"),
		b.other(o, "array", "["+body+"]"),
	}
}

// same is o in another spelling of the same request.
func (b *builder) same(o history.Operation, spelling, body string) history.Operation {
	o.Spelling, o.Body = "same: "+spelling, []byte(body)
	return o
}

// other is another request under o's key.
func (b *builder) other(o history.Operation, spelling, body string) history.Operation {
	o.Spelling, o.Body = "other: "+spelling, []byte(body)
	o.Request += "/" + spelling
	return o
}

// scopes sends o's key for another user and on another route: each must execute by itself.
func (b *builder) scopes(o history.Operation, original int64) {
	o.Group, o.After = 0, original
	if t, _ := findTemplate(o.Route); !t.position && len(b.accounts) > 1 {
		v := o
		v.User, v.Spelling = b.otherUser(o.User), "scope: another user"
		b.send(v)
	}
	for _, w := range b.routes {
		if w.route.ID == o.Route || w.template.position {
			continue
		}
		v := b.ask(w)
		v.User, v.Keys, v.Key, v.Client, v.After = o.User, o.Keys, o.Key, o.Client, original
		v.Spelling = "scope: another route"
		b.send(v)
		return
	}
}

// otherUser is a user that is not this one.
func (b *builder) otherUser(user int64) int64 {
	i := b.rnd.IntN(len(b.accounts))
	if b.accounts[i].ID == user {
		i = (i + 1) % len(b.accounts)
	}
	return b.accounts[i].ID
}

// note is a pair of values that a request hash must tell apart.
type note struct{ name, body, other string }

var notes = []note{
	{"1 against 1.0", `1`, `1.0`},
	{"1 against 1e0", `1`, `1e0`},
	{"past 2^53", `9007199254740992`, `9007199254740993`},
	{"fraction past a double", `0.1`, `0.1000000000000000055511151231257827`},
	{"number against string", `1`, `"1"`},
	{"null against false", `null`, `false`},
	{"array order", `[1,2]`, `[2,1]`},
	{"nested value", `{"a":{"b":[1,{"c":2}]}}`, `{"a":{"b":[1,{"c":3}]}}`},
	{"letter case", `"Straße"`, `"STRASSE"`},
	{"composed against decomposed", `"\u00e9"`, `"e\u0301"`},
	{"empty string against null", `""`, `null`},
	{"0 against -0", `0`, `-0`},
}

func orderWith(symbol string, quantity int, note string) string {
	return fmt.Sprintf(`{"symbol":"%s","side":"buy","quantity":%d,"type":"market","client_note":%s}`, symbol, quantity, note)
}

// escapeFirst writes the first letter as \uXXXX.
func escapeFirst(s string) string { return fmt.Sprintf(`\u%04X%s`, s[0], s[1:]) }

// reorder turns the members of an object round; nested ones stay as they are.
func reorder(body string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(body, "{"), "}")
	members := splitMembers(inner)
	for i, j := 0, len(members)-1; i < j; i, j = i+1, j-1 {
		members[i], members[j] = members[j], members[i]
	}
	return "{" + strings.Join(members, ",") + "}"
}

// splitMembers splits at the commas outside brackets. No string that this package makes holds a bracket or a comma.
func splitMembers(s string) (members []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				members, from = append(members, s[from:i]), i+1
			}
		}
	}
	return append(members, s[from:])
}
