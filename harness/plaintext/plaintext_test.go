package plaintext

import (
	"testing"

	"pgregory.net/rapid"
)

func byByte(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// Every byte at every place of strings of every length up to three words, among neighbours of every kind.
func TestASCIIIsWhatEachByteSays(t *testing.T) {
	for _, around := range []byte{' ', '!', '[', ']', '~', 0x7f} {
		for length := range 25 {
			for at := range length {
				for c := range 256 {
					b := make([]byte, length)
					for i := range b {
						b[i] = around
					}
					b[at] = byte(c)
					if got, want := ASCII(b), byByte(b); got != want {
						t.Fatalf("%q: %t", b, got)
					}
				}
			}
		}
	}
}

func TestASCIIOfAnyBytesIsWhatEachByteSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.ByteRange(' ', '~')), 0, 40).Draw(t, "b")
		if got, want := ASCII(b), byByte(b); got != want {
			t.Fatalf("%q: %t", b, got)
		}
	})
}
