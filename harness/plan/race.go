package plan

// raceShape uses keys, duplicates, clients (keys raced side by side), refused, mix, impatient, manners.
var raceShape = Shape{
	Name: "race", Groups: true, manners: true, build: buildRace,
	Does: "fires all duplicates of a key at one instant, each on a connection of its own, over all replicas",
}

func buildRace(b *builder) {
	refused := newShare(b.Refused, b.Keys)
	for i := 0; i < b.Keys && !b.done(); i++ {
		o := b.fresh(refused.next(b.rnd))
		o.Client, o.Group = i%b.Clients, b.nextGroup()
		for range b.Duplicates {
			d := o
			b.behave(&d)
			b.send(d)
		}
	}
}
