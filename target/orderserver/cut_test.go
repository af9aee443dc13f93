package orderserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// cutShort sends a request without the last missing bytes of its body and closes its half of the connection, so that the answer can still be seen.
func (r *rig) cutShort(url, key, path, body string, missing int) reply {
	r.t.Helper()
	conn := must(net.Dial("tcp", strings.TrimPrefix(url, "http://")))
	defer conn.Close()
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\n\r\n",
		path, r.seed.Users[0].Token, key, len(body))
	must(io.WriteString(conn, head+body[:len(body)-missing]))
	must(0, conn.(*net.TCPConn).CloseWrite())
	resp := must(http.ReadResponse(bufio.NewReader(conn), nil))
	defer resp.Body.Close()
	raw := must(io.ReadAll(resp.Body))
	return reply{status: resp.StatusCode, raw: string(raw), body: map[string]any{"error": errorOf(string(raw))}}
}

func errorOf(raw string) string {
	_, rest, _ := strings.Cut(raw, `"error":"`)
	code, _, _ := strings.Cut(rest, `"`)
	return code
}

// What arrives of some of them is whole JSON, or the empty body that the route allows.
func TestARequestCutShortUsesNoKeyUp(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	closing := fmt.Sprintf("/api/trading/positions/%d/close", r.seed.Users[0].Positions[0])
	for name, c := range map[string]struct {
		path, body string
		missing    int
	}{
		"line break missing": {"/api/trading/orders", someOrder + "\n", 1},
		"half missing":       {"/api/trading/orders", someOrder, len(someOrder) / 2},
		"all missing":        {closing, "{}", 2},
	} {
		key := newKey()[0]
		r.want(r.cutShort(url, key, c.path, c.body, c.missing), 400, "body_unreadable")
		r.wantRows(key, 0, 0, 0)
		if p := r.do(url, call{path: c.path, body: c.body, keys: []string{key}}); p.status != 201 || p.header.Get("Idempotency-Replayed") != "" {
			t.Errorf("%s: the whole request: %v", name, p)
		}
		r.wantRows(key, 1, 0, 1)
	}
}
