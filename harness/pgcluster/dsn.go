package pgcluster

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// connectionString is a PostgreSQL address in either form, URL or keywords, that
// can be changed in part and keeps whatever else its owner has put into it.
type connectionString struct {
	address *url.URL // nil for the keyword form
	text    string
}

func parseConnectionString(dsn string) (connectionString, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return connectionString{text: dsn}, nil
	}
	address, err := url.Parse(dsn)
	if err != nil {
		return connectionString{}, fmt.Errorf("parse the address of the database: %w", withoutInput(err))
	}
	return connectionString{address: address, text: dsn}, nil
}

// with sets a keyword. In the keyword form the last of two settings counts.
func (s connectionString) with(keyword, value string) connectionString {
	if s.address == nil {
		quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value)
		return connectionString{text: fmt.Sprintf("%s %s='%s'", s.text, keyword, quoted)}
	}
	address := *s.address
	query := address.Query()
	query.Set(keyword, value)
	// libpq takes a plus sign literally.
	address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return connectionString{address: &address, text: address.String()}
}

// database names another database on the same server.
func (s connectionString) database(name string) connectionString {
	if s.address == nil {
		return s.with("dbname", name)
	}
	address := *s.address
	address.Path = "/" + name
	query := address.Query()
	query.Del("dbname") // it would win over the path
	address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return connectionString{address: &address, text: address.String()}
}

// Via rewrites a connection string so that it leads through a proxy at addr
// (host:port), with TLS off, since a proxy that reads statements cannot take
// part in it.
func Via(dsn, addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("lead a connection through a proxy: %w", err)
	}
	parsed, err := parseConnectionString(dsn)
	if err != nil {
		return "", err
	}
	parsed = parsed.with("sslmode", "disable")
	if parsed.address == nil {
		return parsed.with("host", host).with("port", port).text, nil
	}
	query := parsed.address.Query()
	query.Del("host")
	query.Del("port")
	parsed.address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	parsed.address.Host = addr
	return parsed.address.String(), nil
}

// address is where a connection string leads first, as host:port.
func address(config *pgx.ConnConfig) string {
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
}

// withoutInput takes the connection string, and the password in it, out of an error.
func withoutInput(err error) error {
	if parsing, ok := err.(*url.Error); ok {
		return parsing.Err
	}
	return err
}
