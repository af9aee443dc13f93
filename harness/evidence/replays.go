package evidence

import (
	"bytes"
	"hash/maphash"

	"github.com/idemstorm/idemstorm/harness/pile"
)

// Replays are replay audit rows, packed: a run leaves one for nearly every request that it repeats, millions in a long one. Those of a key differ only
// in id, operation and time; the rest is kept once. A nil pointer means that nobody asked for them. The zero value is empty and ready.
type Replays struct {
	common  pile.Of[Audit]    // what rows have in common: all but ID, Operation and At
	places  map[uint64]uint32 // in common, by a hash; another place for the same is no harm
	blocks  []replayBlock
	strings *keeper
}

// replayBlock is a stretch of the rows, with their ids and times as text. Times begin alike, and what they begin with is kept once.
type replayBlock struct {
	rows   []replayRow
	text   []byte
	begins string // of times, where the row's time is cut
}

type replayRow struct {
	operation int64
	common    uint32 // place
	from, mid uint32 // where the id begins in the block's text, and the time after it, which ends where the next row's id begins
	cut       bool   // the time lacks what times begin with
}

const (
	replayBlockRows = 4096
	beginsAlike     = len("2006-01-02T15:04:")
)

// rawAudit is an audit row whose text is somebody else's.
type rawAudit struct {
	id, execution, endpoint, key, action, hash, at []byte
	user, operation                                int64
	code                                           int
}

// PackReplays packs rows; nil stays nil.
func PackReplays(rows []Audit) *Replays {
	if rows == nil {
		return nil
	}
	r := new(Replays)
	for i := range rows {
		raw := rows[i].raw()
		r.add(&raw)
	}
	r.done()
	return r
}

func (a *Audit) raw() rawAudit {
	return rawAudit{
		id: []byte(a.ID), execution: []byte(a.Execution), endpoint: []byte(a.Endpoint), key: []byte(a.Key), action: []byte(a.Action),
		hash: []byte(a.Hash), at: []byte(a.At), user: a.User, operation: a.Operation, code: a.Code,
	}
}

// Len is the number of rows.
func (r *Replays) Len() int {
	if r == nil || len(r.blocks) == 0 {
		return 0
	}
	last := len(r.blocks) - 1
	return last*replayBlockRows + len(r.blocks[last].rows)
}

// At is row i, from 0, in the order of the file.
func (r *Replays) At(i int) Audit {
	block := &r.blocks[i/replayBlockRows]
	rows := block.rows[i%replayBlockRows:]
	row, end := &rows[0], uint32(len(block.text))
	if len(rows) > 1 {
		end = rows[1].from
	}
	a := *r.common.At(int(row.common))
	a.ID, a.At, a.Operation = string(block.text[row.from:row.mid]), string(block.text[row.mid:end]), row.operation
	if row.cut {
		a.At = block.begins + a.At
	}
	return a
}

// Operation is that of row i.
func (r *Replays) Operation(i int) int64 {
	return r.blocks[i/replayBlockRows].rows[i%replayBlockRows].operation
}

// Common is what row i shares with others, and its place among all that is shared, which is below Shared. ID, Operation and At are empty.
func (r *Replays) Common(i int) (place int, common *Audit) {
	place = int(r.blocks[i/replayBlockRows].rows[i%replayBlockRows].common)
	return place, r.common.At(place)
}

// Shared is how many different ones Common gives.
func (r *Replays) Shared() int {
	if r == nil {
		return 0
	}
	return r.common.Len()
}

// add keeps a copy.
func (r *Replays) add(a *rawAudit) {
	block := r.room()
	row := replayRow{operation: a.operation, common: r.placeOf(a), from: uint32(len(block.text))}
	row.mid = row.from + uint32(len(a.id))
	var at []byte
	at, row.cut = block.cut(a.at)
	block.text = append(append(block.text, a.id...), at...)
	block.rows = append(block.rows, row)
}

// cut takes off what times begin with: the first one says what that is.
func (b *replayBlock) cut(at []byte) (rest []byte, cut bool) {
	if len(b.rows) == 0 {
		b.begins = string(at[:min(beginsAlike, len(at))])
	}
	return bytes.CutPrefix(at, []byte(b.begins))
}

// done lets go of what only adding needs.
func (r *Replays) done() { r.places, r.strings = nil, nil }

// room is the block for one row more.
func (r *Replays) room() *replayBlock {
	n := len(r.blocks)
	if n == 0 {
		r.places, r.strings = map[uint64]uint32{}, newKeeper()
		r.blocks = append(r.blocks, replayBlock{})
		return &r.blocks[0]
	}
	last := &r.blocks[n-1]
	if len(last.rows) < replayBlockRows {
		return last
	}
	r.blocks = append(r.blocks, replayBlock{rows: make([]replayRow, 0, replayBlockRows), text: make([]byte, 0, len(last.text)+len(last.text)/32)})
	return &r.blocks[n]
}

// placeOf finds what the row shares with others, or adds it.
func (r *Replays) placeOf(a *rawAudit) uint32 {
	h := maphash.Bytes(replaySeed, a.key) ^ uint64(a.user)<<32 ^ uint64(a.code)
	place, known := r.places[h]
	if known && a.shares(r.common.At(int(place))) {
		return place
	}
	place = uint32(r.common.Len())
	r.places[h] = place
	s := r.strings
	*r.common.Next() = Audit{
		Execution: s.own(a.execution), User: a.user, Endpoint: s.shared(a.endpoint), Key: s.own(a.key), Action: s.shared(a.action), Hash: s.own(a.hash), Code: a.code,
	}
	return place
}

var replaySeed = maphash.MakeSeed()

// shares says whether the row is like others in all but id, operation and time.
func (a *rawAudit) shares(c *Audit) bool {
	return a.user == c.User && a.code == c.Code && string(a.key) == c.Key && string(a.endpoint) == c.Endpoint && string(a.hash) == c.Hash &&
		string(a.execution) == c.Execution && string(a.action) == c.Action
}
