package plan

import "errors"

// rivalsShape uses keys, duplicates, clients, retry. Of a key's duplicates every other one asks for something else.
var rivalsShape = Shape{
	Name: "rivals", Foreign: true, Groups: true, build: buildRivals,
	Does: "two different requests under one key, fired several times at one instant: one of the two may execute, once",
}

func buildRivals(b *builder) {
	if !b.foreign() || !b.requests.Has(Other) {
		b.err = errors.New("shape: rivals are of a target that has an other_body")
		return
	}
	for i := 0; i < b.Keys && !b.done(); i++ {
		o := b.fresh(false)
		o.Client, o.Group = i%b.Clients, b.nextGroup()
		other := b.asking(o, Other, o.Key)
		other.Spelling = "other: other_body"
		for n := range max(2, b.Duplicates) {
			if n%2 == 0 {
				b.send(o)
			} else {
				b.send(other)
			}
		}
	}
}
