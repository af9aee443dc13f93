package history

import "hash/maphash"

// kept is the memory that the values of one batch live in. It is used again for another, so that reading a file makes no garbage.
type kept struct {
	attempts  []Attempt
	operation Operation // the one being read
	bytes     []byte    // bodies, one after another
	keys      []string
	recent    *recentTexts
}

func (k *kept) clear() {
	k.attempts, k.bytes, k.keys = k.attempts[:0], k.bytes[:0], k.keys[:0]
}

// newAttempt is room for one. Earlier ones stay where they are: a batch has no more of them than fit.
func (k *kept) newAttempt() *Attempt {
	if k.attempts == nil {
		k.attempts = make([]Attempt, 0, batchSize)
	}
	k.attempts = append(k.attempts, Attempt{})
	return &k.attempts[len(k.attempts)-1]
}

// since are the bytes that were added from there on. What is added later moves nothing of them.
func (k *kept) since(from int) []byte { return k.bytes[from:len(k.bytes):len(k.bytes)] }

// recentTexts are strings that a file had lately: a plan has its keys in a row.
type recentTexts [1024]string

var recentSeed = maphash.MakeSeed()

// keep is a string of these bytes, an old one if it was met lately.
func (k *kept) keep(v []byte) string {
	slot := &k.recent[maphash.Bytes(recentSeed, v)%uint64(len(k.recent))]
	if *slot != string(v) {
		*slot = string(v)
	}
	return *slot
}
