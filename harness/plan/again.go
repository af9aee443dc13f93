package plan

import "github.com/idemstorm/idemstorm/harness/history"

// againShape uses of, keys (the first so many of the earlier phase; 0 is all), duplicates, clients, retry, impatient, manners. Its requests are those of the
// earlier phase, as a client repeats them who never got an answer, or has forgotten it.
var againShape = Shape{
	Name: "again", Groups: true, follows: true, manners: true, build: buildAgain,
	Does: "sends every key of an earlier phase again with the same request, all duplicates of a key at one instant",
}

func buildAgain(b *builder) {
	seen := map[string]bool{}
	for o := range b.earlier {
		if b.done() || (b.Keys > 0 && len(seen) == b.Keys) {
			return
		}
		if o.Key == "" || seen[o.Key] {
			continue
		}
		seen[o.Key] = true
		b.repeat(o, len(seen)-1)
	}
}

// repeat sends an operation of another phase as one of this.
func (b *builder) repeat(o history.Operation, n int) {
	o.Phase, o.Client, o.Retry, o.DeadlineNS = b.Name, n%b.Clients, b.Retry, int64(b.Deadline)
	o.DueNS, o.After, o.GiveUpNS, o.Group = 0, 0, 0, 0
	o.CutBody, o.SlowNS, o.Twin = 0, 0, false
	if b.Duplicates > 1 {
		o.Group = b.nextGroup()
	}
	for range b.Duplicates {
		d := o
		b.behave(&d)
		b.send(d)
	}
}
