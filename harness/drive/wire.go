package drive

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/idemstorm/idemstorm/harness/history"
)

// server is one replica's address, taken apart once.
type server struct {
	address string      // host:port to dial
	host    string      // Host header
	prefix  string      // path in front of every operation's path
	tls     *tls.Config // nil for plain HTTP

	keyHeader string
}

func parseServer(target string) (server, error) {
	u, err := url.Parse(target)
	if err != nil {
		return server{}, fmt.Errorf("target: %w", err)
	}
	if u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return server{}, fmt.Errorf("target %q: it is not like http://127.0.0.1:8080", target)
	}
	s := server{address: u.Host, host: u.Host, prefix: strings.TrimSuffix(u.EscapedPath(), "/")}
	port := "80"
	if u.Scheme == "https" {
		port, s.tls = "443", &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	if u.Port() == "" {
		s.address = net.JoinHostPort(u.Hostname(), port)
	}
	return s, nil
}

// appendRequest writes o as HTTP/1.1. The key lines are sent exactly as they are, however wrong; only line breaks, which would not be header lines
// any more, are refused.
func (s server) appendRequest(b []byte, o *history.Operation, token, headers string) ([]byte, error) {
	b = append(append(b, o.Method...), ' ')
	b = append(append(append(b, s.prefix...), o.Path...), " HTTP/1.1\r\n"...)
	b = appendHeader(b, "Host", s.host)
	b = append(b, "User-Agent: idemstorm\r\n"...)
	if token != "" {
		b = append(append(append(b, "Authorization: Bearer "...), token...), "\r\n"...)
	}
	b = append(b, headers...)
	if o.ContentType != "" {
		b = appendHeader(b, "Content-Type", o.ContentType)
	}
	for _, k := range o.Keys {
		b = appendHeader(b, s.keyHeader, k)
	}
	b = append(strconv.AppendInt(append(b, HeaderOperation+": "...), o.ID, 10), "\r\nContent-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(o.Body)), 10), "\r\n\r\n"...)
	if breaksLine(o.Method, o.Path, o.ContentType, token) || strings.ContainsRune(o.Path, ' ') || breaksLine(o.Keys...) {
		return nil, fmt.Errorf("operation %d: a header or the path holds a line break or a space", o.ID)
	}
	return append(b, o.Body...), nil
}

func appendHeader(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, value...), "\r\n"...)
}

func breaksLine(values ...string) bool {
	for _, v := range values {
		if strings.IndexByte(v, '\r') >= 0 || strings.IndexByte(v, '\n') >= 0 || strings.IndexByte(v, 0) >= 0 {
			return true
		}
	}
	return false
}
