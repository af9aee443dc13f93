package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/klauspost/compress/gzip"
)

// Schema is the version of the history and plan files.
const Schema = 1

// Suffix is appended to the name of a file that is still being written, or whose writer died.
const Suffix = ".partial"

// The errors that end a reading early. Everything before the damage has been yielded by then.
var (
	ErrTruncated = errors.New("file is cut off") // its writer was interrupted: what was read is right, and not all there was
	ErrCorrupt   = errors.New("file is corrupt") // its content contradicts its form
)

// maxLine bounds one line, so that a damaged file cannot ask for unbounded memory.
const maxLine = 64 << 20

// The kinds of file, as their first line names them.
const (
	kindHistory    = "history"
	kindOperations = "operations"
	kindEnd        = "end"
)

// mark is the first and the last line of a file. The last one counts the lines between, so that a file whose compression
// ends cleanly but too early is still recognised.
type mark struct {
	Kind   string `json:"idemstorm"`
	Schema int    `json:"schema,omitempty"`
	Lines  *int64 `json:"lines,omitempty"`
}

// frame writes lines between a header and a trailer, compressed, under a provisional name. It is not safe for concurrent use.
type frame struct {
	path  string
	file  *os.File
	zip   *gzip.Writer
	lines int64
	err   error // the first one; nothing is written after it
}

func createFrame(path, kind string) (*frame, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("replace %s: %w", path, err)
	}
	file, err := os.Create(path + Suffix)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", kind, err)
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create %s: %w", kind, err), file.Close())
	}
	f := &frame{path: path, file: file, zip: zip}
	f.mark(mark{Kind: kind, Schema: Schema})
	f.flush()
	return f, f.err
}

func (f *frame) mark(m mark) {
	line, err := json.Marshal(m)
	f.keep(err)
	f.write(append(line, '\n'), 0)
}

// write adds whole lines; n of them count as content.
func (f *frame) write(b []byte, n int64) {
	if f.err != nil {
		return
	}
	_, err := f.zip.Write(b)
	f.keep(err)
	f.lines += n
}

// flush makes everything written so far readable by others.
func (f *frame) flush() {
	if f.err == nil {
		f.keep(f.zip.Flush())
	}
}

// close writes the trailer and gives the file its name. After an error the file keeps its provisional name.
func (f *frame) close() error {
	f.mark(mark{Kind: kindEnd, Lines: &f.lines})
	f.keep(f.zip.Close())
	f.keep(f.file.Close())
	if f.err == nil {
		f.keep(os.Rename(f.path+Suffix, f.path))
	}
	if f.err != nil {
		return fmt.Errorf("write %s: %w", f.path, f.err)
	}
	return nil
}

func (f *frame) keep(err error) {
	if f.err == nil {
		f.err = err
	}
}

// readFrame yields the lines between header and trailer, without their line ends. A line is valid until the next one is
// asked for. The last pair carries the error, if there is one.
func readFrame(path, kind string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			file, err = os.Open(path + Suffix)
		}
		if err != nil {
			yield(nil, fmt.Errorf("read %s: %w", kind, err))
			return
		}
		defer file.Close()
		stopped, err := readLines(file, kind, func(line []byte) bool { return yield(line, nil) })
		if err != nil && !stopped {
			yield(nil, fmt.Errorf("read %s: %w", file.Name(), err))
		}
	}
}

func readLines(r io.Reader, kind string, yield func([]byte) bool) (stopped bool, err error) {
	zip, err := gzip.NewReader(bufio.NewReaderSize(r, 256<<10))
	if err != nil {
		return false, damage(err)
	}
	defer zip.Close()
	plain := readAhead(zip)
	defer plain.close()
	lines := &lineReader{r: bufio.NewReaderSize(plain, 256<<10)}
	line, err := lines.next()
	if err != nil {
		return false, damage(err)
	}
	if err := checkHeader(line, kind); err != nil {
		return false, err
	}
	for n := int64(0); ; n++ {
		line, err := lines.next()
		if err != nil {
			return false, damage(err)
		}
		if isMark(line) {
			return false, lines.end(line, n)
		}
		if !yield(line) {
			return true, nil
		}
	}
}

// isMark tells a trailer from content by its first member, which no content has.
func isMark(line []byte) bool {
	const start = `{"idemstorm":`
	return len(line) >= len(start) && string(line[:len(start)]) == start
}

func checkHeader(line []byte, kind string) error {
	var m mark
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
		return fmt.Errorf("first line: %w: %w", ErrCorrupt, err)
	case m.Kind != kind:
		return fmt.Errorf("%w: it holds %q, not %s", ErrCorrupt, m.Kind, kind)
	case m.Schema != Schema:
		return fmt.Errorf("%w: schema %d, this program reads %d", ErrCorrupt, m.Schema, Schema)
	}
	return nil
}

// damage sorts what decompression says into the two ways of being unreadable.
func damage(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTruncated
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// lineReader cuts a stream into lines without copying those that fit its buffer.
type lineReader struct {
	r    *bufio.Reader
	long []byte
}

var errLine = fmt.Errorf("a line is longer than %d bytes", maxLine)

func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], nil
	}
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long, line...)
		if len(l.long) > maxLine {
			return nil, errLine
		}
		line, err = l.r.ReadSlice('\n')
	}
	if err != nil {
		return nil, err
	}
	l.long = append(l.long, line...)
	return l.long[:len(l.long)-1], nil
}

// end checks the trailer, and that nothing follows it.
func (l *lineReader) end(line []byte, lines int64) error {
	var m mark
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("last line: %w: %w", ErrCorrupt, err)
	}
	if m.Kind != kindEnd || m.Lines == nil || *m.Lines != lines {
		return fmt.Errorf("%w: its last line does not fit the %d lines before it", ErrCorrupt, lines)
	}
	switch _, err := l.r.ReadByte(); {
	case err == nil:
		return fmt.Errorf("%w: something follows its last line", ErrCorrupt)
	case !errors.Is(err, io.EOF):
		return damage(err)
	}
	return nil
}
