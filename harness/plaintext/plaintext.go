// Package plaintext looks for what has a meaning of its own within a JSON string.
//
// It stands below the readers of long files, which spend most of their time on strings that are nothing but themselves.
package plaintext

import "encoding/binary"

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// ASCII says whether b is ASCII without control characters and backslashes: the content of a JSON string that means itself, if it has no quotation
// mark. It looks at eight bytes at a time.
func ASCII(b []byte) bool {
	for len(b) >= 8 {
		if odd(binary.LittleEndian.Uint64(b)) {
			return false
		}
		b = b[8:]
	}
	if len(b) == 0 {
		return true
	}
	last := [8]byte{' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '}
	copy(last[:], b)
	return !odd(binary.LittleEndian.Uint64(last[:]))
}

// odd says whether one of eight bytes is not ASCII, is below a space, or is a backslash. Where none is beyond ASCII, a subtraction borrows from the high
// bit of the byte that it is meant for first, so that the lowest odd byte is found whatever the others are.
func odd(w uint64) bool {
	control := w - ' '*ones
	backslash := (w ^ '\\'*ones) - ones
	return (w|control|backslash)&highs != 0
}
