package drive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/idemstorm/idemstorm/harness/history"
)

// Bounds on what a server may send for one request.
const (
	maxAnswer  = 8 << 20
	maxInterim = 8 // 1xx answers before the final one
)

var errTooLarge = fmt.Errorf("the answer is larger than %d bytes", maxAnswer)

// answer is one HTTP answer as far as an attempt records it. body is valid until the next one is read.
type answer struct {
	status     int
	marked     bool
	retryAfter string
	body       []byte
	closes     bool // the connection cannot be used again
}

// record fills in what an attempt keeps of its answer.
func (got *answer) record(a *history.Attempt) {
	a.Status, a.Marked, a.RetryAfter, a.Body = got.status, got.marked, got.retryAfter, got.body
}

// answerReader reads answers from a connection, each at most maxAnswer bytes.
type answerReader struct {
	limit limitedReader
	buf   *bufio.Reader
	body  []byte
}

func newAnswerReader(r io.Reader) *answerReader {
	a := &answerReader{limit: limitedReader{r: r}}
	a.buf = bufio.NewReaderSize(&a.limit, 4096)
	return a
}

// read reads one answer whole; marked says of its headers whether it is a replay. An error leaves the connection unusable.
func (a *answerReader) read(method string, marked func(header func(string) string) bool) (answer, error) {
	a.limit.left = maxAnswer
	request := &http.Request{Method: method}
	for range maxInterim {
		resp, err := http.ReadResponse(a.buf, request)
		if err != nil {
			return answer{}, err
		}
		switch {
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return answer{}, errors.New("the server switches protocols unasked")
		case resp.StatusCode >= 200:
			return a.finish(resp, marked(resp.Header.Get))
		}
	}
	return answer{}, errors.New("too many interim answers")
}

func (a *answerReader) finish(resp *http.Response, marked bool) (answer, error) {
	out := answer{
		status:     resp.StatusCode,
		marked:     marked,
		retryAfter: resp.Header.Get("Retry-After"),
	}
	var err error
	if a.body, err = readAll(a.body[:0], resp.Body); err != nil {
		return answer{}, err
	}
	out.body = a.body
	out.closes = resp.Close || a.buf.Buffered() > 0 // whoever sends more than was asked for is not trusted with another request
	return out, nil
}

func readAll(b []byte, r io.Reader) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// limitedReader fails, rather than ends, at its limit: a cut answer must not pass for a whole one.
type limitedReader struct {
	r    io.Reader
	left int
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
