package claim

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// orderSQL is a fresh order, statement for statement what the bundled server sends by its reference strategy.
//
//go:embed order.sql
var orderSQL string

// pgbenchIn finds the program beside the server's.
func pgbenchIn(binDir string) (string, error) {
	binDir, err := pgcluster.FindBinaries(binDir)
	if err != nil {
		return "", fmt.Errorf("pgbench: %w", err)
	}
	path := filepath.Join(binDir, "pgbench")
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("pgbench is not beside the PostgreSQL server's programs (Debian: apt-get install postgresql-contrib)")
	}
	return path, nil
}

// floor measures pgbench: as many clients, the same statements, and the handler's time where the handler has it.
func (b *Bench) floor(ctx context.Context, db *database, c bench.Cell) (m bench.Measurement, err error) {
	dir, err := os.MkdirTemp(b.stage.dir, "pgbench-")
	if err != nil {
		return m, fmt.Errorf("make a folder for pgbench: %w", err)
	}
	defer os.RemoveAll(dir) // what is left of it goes with the folder around it
	script := filepath.Join(dir, "order.sql")
	if err := os.WriteFile(script, []byte(floorScript(c.Handler)), 0o644); err != nil {
		return m, fmt.Errorf("write pgbench's script: %w", err)
	}
	if err := b.pgbench(ctx, db, c, dir, script); err != nil {
		return m, err
	}
	return b.readFloor(dir, c)
}

// floorScript sleeps where the handler does: between the claim and the transaction.
func floorScript(handler time.Duration) string {
	if handler == 0 {
		return orderSQL
	}
	pause := fmt.Sprintf("\\sleep %d us\nBEGIN;", handler.Microseconds())
	return strings.Replace(orderSQL, "BEGIN;", pause, 1)
}

// pgbench writes one log line a transaction into dir.
func (b *Bench) pgbench(ctx context.Context, db *database, c bench.Cell, dir, script string) error {
	path, err := pgbenchIn(b.BinDir)
	if err != nil {
		return err
	}
	env, err := environment(db.dsn)
	if err != nil {
		return err
	}
	seconds := 1 + int(math.Ceil((b.Warm + b.Measure + 2*c.Handler).Seconds())) // whole ones are all that pgbench takes
	cmd := exec.CommandContext(ctx, path, "-n", "-M", "prepared", "-c", strconv.Itoa(c.Clients), "-j", strconv.Itoa(min(c.Clients, 2)),
		"-T", strconv.Itoa(seconds), "-l", "--log-prefix", filepath.Join(dir, "times"), "-f", script)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C reaches us alone, and we end it
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgbench: %w: %.400s", err, bytes.TrimSpace(out))
	}
	return nil
}

// environment leads libpq to a database without the password among the arguments, which everyone on the machine may read.
func environment(dsn string) ([]string, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	return []string{
		"PGHOST=" + config.Host, "PGPORT=" + strconv.Itoa(int(config.Port)), "PGUSER=" + config.User, "PGPASSWORD=" + config.Password,
		"PGDATABASE=" + config.Database, "PGOPTIONS=" + config.RuntimeParams["options"],
	}, nil
}

// readFloor counts what ended after the warm-up.
func (b *Bench) readFloor(dir string, c bench.Cell) (m bench.Measurement, err error) {
	all, err := transactions(dir)
	if err != nil {
		return m, err
	}
	from, until := int64(math.MaxInt64), int64(0)
	for _, t := range all {
		from, until = min(from, t.ended), max(until, t.ended)
	}
	if from += int64(b.Warm); from >= until {
		return m, fmt.Errorf("pgbench ended %d transactions, and none after its warm-up of %v; give it longer (--duration)", len(all), b.Warm)
	}
	var set latency.Set
	record := set.Recorder()
	m.Cell = c
	for _, t := range all {
		if t.ended > from {
			m.Keys++
			record.Record(series(c, bench.Winner), t.took)
		}
	}
	record.Flush()
	m.Requests = m.Keys
	m.KeysPerSecond = float64(m.Keys) / time.Duration(until-from).Seconds()
	m.Winner = bench.TimesOf(set.Summary(series(c, bench.Winner)))
	b.times.Merge(&set)
	return m, nil
}

// transaction is one line of pgbench's log.
type transaction struct {
	ended int64 // nanoseconds since 1970
	took  time.Duration
}

// transactions reads the logs of all of pgbench's threads: client, number, time in µs, script, second and microsecond of the end.
func transactions(dir string) (all []transaction, err error) {
	logs, err := filepath.Glob(filepath.Join(dir, "times.*"))
	if err != nil {
		return nil, fmt.Errorf("look for pgbench's logs: %w", err)
	}
	for _, path := range logs {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read pgbench's log: %w", err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var client, number, took, script, second, micro int64
			if _, err := fmt.Sscan(lines.Text(), &client, &number, &took, &script, &second, &micro); err != nil {
				f.Close()
				return nil, fmt.Errorf("read pgbench's log: line %q: %w", lines.Text(), err)
			}
			all = append(all, transaction{second*int64(time.Second) + micro*int64(time.Microsecond), time.Duration(took) * time.Microsecond})
		}
		f.Close()
	}
	return all, nil
}
