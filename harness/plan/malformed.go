package plan

import "strings"

// malformedShape uses keys (wrong forms sent, each kind in turn), mix. Among the forms is one that is right: a used key in upper case.
var malformedShape = Shape{
	Name: "malformed", bundled: true, build: buildMalformed,
	Does: "keys that are no UUID, in every form that careless parsers accept, and one UUID in two spellings that are one key",
}

// form is one way of writing a key. Its lines are the header lines that are sent.
type form struct {
	name  string
	right bool // it means the key; otherwise nothing may execute
	lines func(key string) []string
}

var forms = []form{
	{name: "empty", lines: one(func(string) string { return "" })},
	{name: "braces", lines: one(func(k string) string { return "{" + k + "}" })},
	{name: "urn", lines: one(func(k string) string { return "urn:uuid:" + k })},
	{name: "32 digits", lines: one(func(k string) string { return strings.ReplaceAll(k, "-", "") })},
	{name: "twice, same", lines: func(k string) []string { return []string{k, k} }},
	{name: "twice, different", lines: func(k string) []string { return []string{k, "0" + k[1:]} }},
	{name: "not hexadecimal", lines: one(func(k string) string { return k[:35] + "g" })},
	{name: "too long", lines: one(func(k string) string { return k + "0" })},
	{name: "too short", lines: one(func(k string) string { return k[:35] })},
	{name: "hyphens moved", lines: one(func(k string) string { return k[:7] + "-" + k[7:8] + k[9:] })},
	{name: "list", lines: one(func(k string) string { return k + ", " + k })},
	{name: "quoted", lines: one(func(k string) string { return `"` + k + `"` })},
	{name: "upper case", right: true, lines: one(strings.ToUpper)},
	{name: "mixed case", right: true, lines: one(func(k string) string { return strings.ToUpper(k[:18]) + k[18:] })},
}

func one(spell func(string) string) func(string) []string {
	return func(key string) []string { return []string{spell(key)} }
}

func buildMalformed(b *builder) {
	for i := 0; i < b.Keys && !b.done(); i++ {
		f := forms[i%len(forms)]
		o := b.fresh(false)
		o.Client = i % b.Clients
		if f.right {
			o.After = b.send(o)
		} else {
			o.Key = ""
		}
		o.Spelling = "key: " + f.name
		o.Keys = f.lines(o.Keys[0])
		b.send(o)
	}
}
