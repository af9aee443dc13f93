package pgwire

import "encoding/binary"

// headerLen is a message's type byte and its length, which counts itself.
const headerLen = 5

// scanner walks over a stream's message headers without keeping the bodies.
// Message boundaries need not fall on chunk boundaries.
type scanner struct {
	header [headerLen]byte
	have   int   // bytes of the header seen
	skip   int64 // bytes of the body still to come
	bad    bool  // the stream is no protocol 3 stream; nothing is reported any more
}

// scan calls each for every header completed in chunk.
func (s *scanner) scan(chunk []byte, each func(kind byte)) {
	for len(chunk) > 0 && !s.bad {
		if s.skip > 0 {
			n := min(s.skip, int64(len(chunk)))
			s.skip -= n
			chunk = chunk[n:]
			continue
		}
		n := copy(s.header[s.have:], chunk)
		s.have += n
		chunk = chunk[n:]
		if s.have < headerLen {
			return
		}
		s.have = 0
		length, ok := bodyLen(s.header[:])
		s.bad = !ok
		if ok {
			s.skip = length
			each(s.header[0])
		}
	}
}

// bodyLen is the length of the body that a complete header announces.
func bodyLen(header []byte) (int64, bool) {
	length := int32(binary.BigEndian.Uint32(header[1:headerLen]))
	return int64(length) - 4, length >= 4
}

// runs tells whether a client's message makes the database run a statement.
func runs(kind byte) bool { return kind == 'Q' || kind == 'E' || kind == 'F' }
