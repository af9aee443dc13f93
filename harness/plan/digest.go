package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/idemstorm/idemstorm/harness/history"
)

// Digester sums operations up: the SHA-256 over their encoded forms, one a line, in the order of their ids.
type Digester struct {
	sum  hash.Hash
	line []byte
}

// NewDigester begins a sum.
func NewDigester() *Digester { return &Digester{sum: sha256.New()} }

// Add takes the next operation.
func (d *Digester) Add(o *history.Operation) {
	d.line = append(history.AppendOperation(d.line[:0], o), '\n')
	d.sum.Write(d.line)
}

// Digest is the sum so far, in hexadecimal.
func (d *Digester) Digest() string { return hex.EncodeToString(d.sum.Sum(nil)) }
