package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// linePrefix opens every line of the server's log: when, which process, the SQLSTATE, and what kind of process.
const linePrefix = "%m [%p] %e %b "

// errorLine is an error that linePrefix opens.
var errorLine = regexp.MustCompile(`^[^\[]*\[\d+\] ([0-9A-Z]{5}) ([a-z ]*?) ?(?:ERROR|FATAL|PANIC): `)

// clientBackend is what %b says of a process that serves a client; one that has not got so far yet has no name.
const clientBackend = "client backend"

// headSize is how much of a line decides, in bytes: what follows, such as the statement, may be of any length.
const headSize = 160

// errorLog counts the errors that the server gave its clients, by SQLSTATE, and passes its log on.
type errorLog struct {
	onward io.Writer // may be nil

	mu     sync.Mutex
	head   []byte // of the line that is being written
	counts map[string]int64
}

func newErrorLog(onward io.Writer) *errorLog {
	return &errorLog{onward: onward, counts: map[string]int64{}}
}

// Write never fails, as tail's does not. Lines may come in pieces.
func (l *errorLog) Write(text []byte) (int, error) {
	if l.onward != nil {
		_, _ = l.onward.Write(text)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := text; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.head = append(l.head, line[:min(len(line), max(0, headSize-len(l.head)))]...)
		if whole {
			l.count()
			l.head = l.head[:0]
		}
		rest = after
	}
	return len(text), nil
}

func (l *errorLog) count() {
	found := errorLine.FindSubmatch(l.head)
	if found == nil {
		return
	}
	if kind := string(found[2]); kind == "" || kind == clientBackend {
		l.counts[string(found[1])]++
	}
}

func (l *errorLog) of(code string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[code]
}

const (
	// markCode is a SQLSTATE that nothing but the mark has.
	markCode = "IDMRK"
	raiseSQL = `DO $$ BEGIN RAISE EXCEPTION 'idemstorm: a mark in the log' USING ERRCODE = '` + markCode + `'; END $$`
)

// markLimit bounds the wait for the mark to come through the log.
const markLimit = 10 * time.Second

// ErrorsGiven is how many errors with a SQLSTATE the server has given its clients since Start, by its own log: everything that was
// given before the call counts. It leaves a mark in the log, through conn, to know how far the log has been read.
func (c *Cluster) ErrorsGiven(ctx context.Context, conn *pgx.Conn, code string) (int64, error) {
	seen := c.errors.of(markCode)
	_, err := conn.Exec(ctx, raiseSQL)
	if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != markCode {
		return 0, fmt.Errorf("mark the server's log: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, markLimit)
	defer cancel()
	tick := time.NewTicker(settleInterval)
	defer tick.Stop()
	for c.errors.of(markCode) == seen {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for the mark in the server's log: %w%s", ctx.Err(), strings.TrimSpace(c.log.quoted()))
		}
	}
	return c.errors.of(code), nil
}
