package history

import "io"

const (
	aheadBlock = 256 << 10 // bytes decompressed at a time
	aheadDepth = 3         // blocks that may wait for their reader
)

// ahead decompresses in a goroutine of its own, while what it has is decoded: either takes about half of the time of reading a file.
type ahead struct {
	blocks chan aheadPiece
	free   chan []byte
	stop   chan struct{}
	left   []byte // of the block at hand
	block  []byte
	err    error
}

type aheadPiece struct {
	b   []byte
	err error
}

func readAhead(r io.Reader) *ahead {
	a := &ahead{blocks: make(chan aheadPiece, aheadDepth), free: make(chan []byte, aheadDepth+1), stop: make(chan struct{})}
	for range cap(a.free) {
		a.free <- make([]byte, aheadBlock)
	}
	go a.run(r)
	return a
}

func (a *ahead) run(r io.Reader) {
	defer close(a.blocks)
	for {
		var b []byte
		select {
		case b = <-a.free:
		case <-a.stop:
			return
		}
		n, err := fillBlock(r, b)
		select {
		case a.blocks <- aheadPiece{b[:n], err}:
		case <-a.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// fillBlock reads until b is full or r has an error, which stays what it is: io.ReadFull would turn a clean end into a cut.
func fillBlock(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var got int
		got, err = r.Read(b[n:])
		n += got
	}
	return n, err
}

// Read implements io.Reader.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.left) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		if a.block != nil {
			a.free <- a.block[:cap(a.block)]
		}
		piece := <-a.blocks
		a.block, a.left, a.err = piece.b, piece.b, piece.err
	}
	n := copy(p, a.left)
	a.left = a.left[n:]
	return n, nil
}

// close ends the goroutine and waits for it.
func (a *ahead) close() {
	close(a.stop)
	for range a.blocks {
	}
}
