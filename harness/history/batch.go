package history

import "iter"

const (
	batchSize  = 256 // values
	batchDepth = 4   // batches in all
)

// batch is a stretch of a file, decoded. Its values live in what it has kept, until it is filled again.
type batch[T any] struct {
	values []T
	kept   kept
	err    error // what ended the file after these values
}

// batches decode a file in a goroutine of their own, while what they hold is looked at: either takes about half of the time of a judgement.
type batches[T any] struct {
	path, kind string
	decode     func(*scanner) (T, error)

	full, free chan *batch[T]
	stop       chan struct{}
}

// scanned is decoded for who keeps nothing of a value beyond its turn.
func scanned[T any](path, kind string, decode func(*scanner) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		b := &batches[T]{
			path: path, kind: kind, decode: decode,
			full: make(chan *batch[T], batchDepth), free: make(chan *batch[T], batchDepth), stop: make(chan struct{}),
		}
		recent := new(recentTexts)
		for range cap(b.free) {
			b.free <- &batch[T]{values: make([]T, 0, batchSize), kept: kept{recent: recent}}
		}
		go b.run()
		defer b.close()
		for one := range b.full {
			if !one.each(yield) {
				return
			}
			b.free <- one
		}
	}
}

// each passes on what the batch has, and then what ended the file.
func (b *batch[T]) each(yield func(T, error) bool) bool {
	for i := range b.values {
		if !yield(b.values[i], nil) {
			return false
		}
	}
	var none T
	return b.err == nil || yield(none, b.err)
}

func (b *batches[T]) run() {
	defer close(b.full)
	one := b.empty() // there is one: nobody stops before the first was sent
	for v, err := range decodedWith(b.path, b.kind, b.decode, func() *kept { return &one.kept }) {
		if err != nil {
			one.err = err
			break
		}
		if one.values = append(one.values, v); len(one.values) < batchSize {
			continue
		}
		b.full <- one // there is room for all
		if one = b.empty(); one == nil {
			return
		}
	}
	b.full <- one
}

// empty is a batch to fill; nil when nobody wants more.
func (b *batches[T]) empty() *batch[T] {
	select {
	case one := <-b.free:
		one.values, one.err = one.values[:0], nil
		one.kept.clear()
		return one
	case <-b.stop:
		return nil
	}
}

// close ends the goroutine and waits for it.
func (b *batches[T]) close() {
	close(b.stop)
	for range b.full {
	}
}
