package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// rateClients are enough for any rate that is far from what the machine can do.
const rateClients = 8

// pgbench runs a script for a time, and returns its transactions: by as many clients as requests have, or at a rate where that is not 0.
func (d *database) pgbench(ctx context.Context, script string, length time.Duration, rate int) (r reading, err error) {
	dir, err := os.MkdirTemp(d.dir, "pgbench-")
	if err != nil {
		return r, fmt.Errorf("make a folder for pgbench: %w", err)
	}
	defer os.RemoveAll(dir) // what is left goes with the folder around it
	path := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		return r, fmt.Errorf("write pgbench's script: %w", err)
	}
	clients := d.clients
	if rate > 0 {
		clients = min(clients, rateClients)
	}
	args := []string{
		"-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2", "-T", strconv.Itoa(int(length.Seconds() + 0.5)),
		"-l", "--log-prefix", filepath.Join(dir, "times"), "-f", path,
	}
	if rate > 0 {
		args = append(args, "-R", strconv.Itoa(rate))
	}
	m := &meter{db: d}
	m.start(ctx)
	own, err := d.runPgbench(ctx, args)
	if err != nil {
		return r, err
	}
	m.stop(ctx)
	answers, err := transactions(dir)
	if err != nil {
		return r, err
	}
	r = read(answers)
	m.spent.pgbench, m.spent.driver, m.spent.server = own.Seconds(), 0, 0 // ours was reading its files
	r.spent = m.spent.each(len(answers))
	return r, m.err
}

func (d *database) runPgbench(ctx context.Context, args []string) (cpu time.Duration, err error) {
	config, err := pgx.ParseConfig(d.dsn)
	if err != nil {
		return 0, fmt.Errorf("read the database's address: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(d.cluster.BinDir(), "pgbench"), args...)
	cmd.Env = append(cmd.Environ(), "PGHOST="+config.Host, "PGPORT="+strconv.Itoa(int(config.Port)), "PGUSER="+config.User,
		"PGPASSWORD="+config.Password, "PGDATABASE="+config.Database)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("pgbench: %w: %.600s", err, bytes.TrimSpace(out))
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// transactions reads the logs of all of pgbench's threads: client, number, time in µs, script, second and microsecond of the end.
func transactions(dir string) (all []answer, err error) {
	logs, err := filepath.Glob(filepath.Join(dir, "times.*"))
	if err != nil {
		return nil, fmt.Errorf("look for pgbench's logs: %w", err)
	}
	for _, path := range logs {
		log, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read pgbench's log: %w", err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(log)); lines.Scan(); {
			var client, number, took, script, second, micro int64
			if _, err := fmt.Sscan(lines.Text(), &client, &number, &took, &script, &second, &micro); err != nil {
				return nil, fmt.Errorf("read pgbench's log: line %q: %w", lines.Text(), err)
			}
			all = append(all, answer{ended: second*int64(time.Second) + micro*int64(time.Microsecond), took: took * int64(time.Microsecond)})
		}
	}
	return all, nil
}
