package harness

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/history"
)

const (
	beatEvery = 100 * time.Millisecond
	// beatLate is how long a beat takes on a machine that is late: the wake-up of one thread and one small commit, a few milliseconds as a rule.
	beatLate = 250 * time.Millisecond
	// beatWithin bounds one beat.
	beatWithin = 5 * time.Second
	// noteLate is the kind of the note that the checks read: its text is how long a beat took.
	noteLate = "late"

	// beatSQL takes a transaction id, so that its commit waits for the disk as an order's does.
	beatSQL = `SELECT txid_current()`
)

// pulse is a second pair of eyes on the machine, which the server under test has no part in: on time it commits next to nothing on the
// database, by no path that faults strike, and notes each beat that was late.
type pulse struct {
	dsn    string
	zero   time.Time
	writer *history.Writer
	conn   *pgx.Conn // nil while there is none
}

// pulse watches from the last heal on, when keys have a bound to settle in; before it, faults make the database late on purpose. The function
// it returns ends the watching and waits for its end.
func (r *rig) pulse(ctx context.Context, zero time.Time, writer *history.Writer, healed <-chan struct{}) (end func()) {
	if r.store.dsn == "" { // a running service's database is not ours to look at
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-healed:
			p := &pulse{dsn: r.store.dsn, zero: zero, writer: writer}
			p.live(ctx)
		case <-ctx.Done():
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (p *pulse) live(ctx context.Context) {
	for due := time.Now(); ctx.Err() == nil; due = later(due.Add(beatEvery)) {
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
			p.beat(ctx, due)
		case <-ctx.Done():
			timer.Stop()
		}
	}
	p.disconnect()
}

// later keeps a beat that was missed from being made up for.
func later(due time.Time) time.Time {
	if now := time.Now(); due.Before(now) {
		return now
	}
	return due
}

// beat is due at a moment. One that fails says nothing about how late the machine is, unless it is the time that it failed by.
func (p *pulse) beat(ctx context.Context, due time.Time) {
	bounded, cancel := context.WithTimeout(ctx, beatWithin)
	defer cancel()
	err := p.commit(bounded)
	took := time.Since(due)
	if ctx.Err() != nil || (err != nil && bounded.Err() == nil) || took < beatLate {
		return
	}
	p.writer.Note(history.Note{AtNS: int64(time.Since(p.zero)), Kind: noteLate, Text: took.Round(time.Millisecond).String()})
}

func (p *pulse) commit(ctx context.Context) (err error) {
	if p.conn == nil {
		if p.conn, err = pgx.Connect(ctx, p.dsn); err != nil {
			p.conn = nil
			return err
		}
	}
	if _, err = p.conn.Exec(ctx, beatSQL); err != nil {
		p.disconnect()
	}
	return err
}

func (p *pulse) disconnect() {
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), beatWithin)
	defer cancel()
	_ = p.conn.Close(ctx) // it may be broken already
	p.conn = nil
}
