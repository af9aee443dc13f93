package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/idemstorm/idemstorm/harness/evidence"
)

// What a server may hold more than before: a connection that is kept for its next use, and the goroutines that belong to it. What leaks
// with every request of an outage is far more.
const (
	spareGoroutines  = 16
	spareDescriptors = 16
)

var resourcesReturn = Invariant{
	ID: "resources-return",
	Meaning: fmt.Sprintf("when faults have ended, no server holds more than before: goroutines (%d spare), connections in use, pools within their limit, "+
		"sockets and database sessions that no pool accounts for (%d sockets spare)", spareGoroutines, spareDescriptors),
	Unit:  "figures",
	Needs: []Need{NeedResources},
	judge: func(ix *index, s *sheet) {
		s.skipped = "the servers publish none of the figures"
		for _, l := range levels(ix.set.Before, ix.set.After) {
			s.look()
			if l.After > l.Most {
				s.violate(violation{
					Sentence: fmt.Sprintf("%s: %d before the first fault, %d after the last had healed.", l.What, l.Before, l.After),
					Expected: fmt.Sprintf("at most %d", l.Most),
					Seen:     fmt.Sprintf("%d", l.After),
				})
			}
		}
	},
}

// Level is one figure of what servers hold.
type Level struct {
	What                string
	Before, After, Most int64
}

// Exceeded lists the figures that have not returned to their level from before.
func Exceeded(before, after *evidence.Resources) []Level {
	return slices.DeleteFunc(levels(before, after), func(l Level) bool { return l.After <= l.Most })
}

// levels compares figure by figure. A pool may have grown to its limit, and what it has opened accounts for as many sockets and sessions.
func levels(before, after *evidence.Resources) (list []Level) {
	for i := range min(len(before.Replicas), len(after.Replicas)) {
		list = append(list, heldLevels(fmt.Sprintf("replica %d, ", i+1), before.Replicas[i], after.Replicas[i])...)
	}
	for _, name := range slices.Sorted(maps.Keys(after.Sessions)) {
		then, now := before.Sessions[name], after.Sessions[name]
		list = append(list, Level{"database sessions of " + name, then, now, max(then, after.Pooled(name))})
	}
	return list
}

// heldLevels compares one replica. A figure that it does not publish is not compared.
func heldLevels(of string, before, after evidence.Held) (list []Level) {
	opened := int64(0)
	for _, name := range slices.Sorted(maps.Keys(after.Pools)) {
		then, now := before.Pools[name], after.Pools[name]
		opened += max(0, now.Open-then.Open)
		list = append(list,
			Level{of + "connections in use of pool " + name, then.Acquired, now.Acquired, then.Acquired},
			Level{of + "connections of pool " + name, then.Open, now.Open, max(then.Open, now.Limit)})
	}
	if after.Redis.Limit > 0 {
		then, now := before.Redis, after.Redis
		opened += max(0, now.Open-then.Open)
		list = append(list, Level{of + "connections to Redis", then.Open, now.Open, max(then.Open, now.Limit)})
	}
	for _, l := range []Level{
		{of + "goroutines", before.Goroutines, after.Goroutines, before.Goroutines + spareGoroutines},
		{of + "open files and sockets", before.Descriptors, after.Descriptors, before.Descriptors + opened + spareDescriptors},
	} {
		if l.Before >= 0 && l.After >= 0 {
			list = append(list, l)
		}
	}
	return list
}
