package drive

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

func newAnswerReaderForTest(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

func TestOnlyAWholeAnswerIsAnAnswer(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	for text, want := range map[string]struct {
		body   string
		closes bool
		fails  bool
	}{
		head + "Content-Length: 2\r\n\r\nab":                                      {body: "ab"},
		head + "Content-Length: 2\r\nConnection: close\r\n\r\nab":                 {body: "ab", closes: true},
		head + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n": {body: "abc"},
		head + "\r\nab": {body: "ab", closes: true},
		"HTTP/1.1 100 Continue\r\n\r\n" + head + "Content-Length: 0\r\n\r\n":   {},
		"HTTP/1.1 204 No Content\r\n\r\n":                                      {},
		head + "Content-Length: 1\r\n\r\nab":                                   {body: "a", closes: true},
		head + "Content-Length: 3\r\n\r\nab":                                   {fails: true},
		head + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n":                 {fails: true},
		head + "Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n":                {fails: true},
		head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab":              {fails: true},
		head + "Content-Length: 99999999\r\n\r\n" + strings.Repeat("a", 9<<20): {fails: true},
		head + "X: " + strings.Repeat("a", 9<<20):                              {fails: true},
		"HTTP/1.1 101 Switching Protocols\r\n\r\n":                             {fails: true},
		strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 20):                  {fails: true},
		"SSH-2.0-x\r\n": {fails: true},
		"":              {fails: true},
	} {
		got, err := newAnswerReader(strings.NewReader(text)).read("POST", contract.ADR0138(0, 0).Marked)
		if (err != nil) != want.fails || string(got.body) != want.body || got.closes != want.closes {
			t.Errorf("%.80q: %q, closes %v, error %v", text, got.body, got.closes, err)
		}
	}
}

func FuzzAnswersNeverPanicNorGrow(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := newAnswerReader(strings.NewReader(s)).read("POST", contract.ADR0138(0, 0).Marked)
		if err == nil && (len(got.body) > maxAnswer || got.status < 200) {
			t.Fatalf("status %d, %d bytes", got.status, len(got.body))
		}
	})
}

func TestABrokenAnswerIsLost(t *testing.T) {
	for name, c := range map[string]struct{ text, cause string }{
		"cut off":  {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab", history.CauseReset},
		"not HTTP": {"hello\r\n\r\n", history.CauseOther},
		"nothing":  {"", history.CauseReset},
	} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, c.text)
			conn.Close()
		})
		t.Run(name, func(t *testing.T) {
			setUp(t, []string{url}, steady(6, 2)).drive(t).only(t, history.Lost, c.cause, 6)
		})
	}
}

func TestKeysGoOutExactlyAsPlanned(t *testing.T) {
	s := server{host: "h", keyHeader: keyHeader}
	o := &history.Operation{ID: 7, Method: "POST", Path: "/p", Keys: []string{"", "A b"}, Body: []byte("x")}
	b, err := s.appendRequest(nil, o, "t", "")
	want := "POST /p HTTP/1.1\r\nHost: h\r\nUser-Agent: idemstorm\r\nAuthorization: Bearer t\r\nIdempotency-Key: \r\n" +
		"Idempotency-Key: A b\r\nIdemstorm-Operation: 7\r\nContent-Length: 1\r\n\r\nx"
	if err != nil || string(b) != want {
		t.Errorf("%v, %q", err, b)
	}
	for _, bad := range []history.Operation{{Keys: []string{"a\r\nb: c"}}, {Path: "/a b"}, {Path: "/\n"}, {Method: "\r"}} {
		if _, err := s.appendRequest(nil, &bad, "", ""); err == nil {
			t.Errorf("%+v was sent", bad)
		}
	}
}

func TestTargetsMayBeTLSAndHaveAPath(t *testing.T) {
	got, err := parseServer("https://example.org/base/")
	if err != nil || got.address != "example.org:443" || got.prefix != "/base" || got.tls == nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "ftp://x", "127.0.0.1:80", "http://"} {
		if _, err := parseServer(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestTLSWorks(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(ok))
	defer s.Close()
	r := setUp(t, []string{s.URL}, steady(3, 1))
	defer r.Writer.Close()
	d, err := newDriver(r.Config)
	if err != nil {
		t.Fatal(err)
	}
	d.servers[0].tls.RootCAs = s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	l := d.newLane()
	defer l.close()
	for id := range int64(3) {
		op := r.ops[id+1]
		if a, _ := l.attempt(r.ctx, try{op: &op, n: 1}); a.Outcome != history.Returned {
			t.Fatalf("%+v", a)
		}
	}
}
