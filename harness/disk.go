package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// How the disk is asked: as a commit asks it, one block of PostgreSQL's size at a time, until either bound.
const (
	syncBlock  = 8 << 10
	syncMost   = 50
	syncWithin = 250 * time.Millisecond
)

const dataDirectory = `SELECT current_setting('data_directory')`

// disk says what one synchronised write costs where the server keeps its data: the floor under every commit. A server that is not ours is not asked.
func disk(ctx context.Context, conn *pgx.Conn, ours bool) string {
	if !ours {
		return "not measured: the server is not ours"
	}
	var dir string
	if err := conn.QueryRow(ctx, dataDirectory).Scan(&dir); err != nil {
		return "not measured: " + err.Error()
	}
	took, err := timeSyncs(dir)
	if err != nil {
		return "not measured: " + err.Error()
	}
	slices.Sort(took)
	n := len(took)
	return fmt.Sprintf("fdatasync of 8 kB in the data directory: median %v, slowest %v, of %d", rounded(took[(n-1)/2]), rounded(took[n-1]), n)
}

func rounded(d time.Duration) time.Duration {
	return d.Round(max(time.Microsecond, d/1000).Truncate(time.Microsecond))
}

// timeSyncs writes blocks to a file of its own in dir and removes it. At least one is timed.
func timeSyncs(dir string) (took []time.Duration, err error) {
	f, err := os.CreateTemp(dir, "idemstorm-fsync-*")
	if err != nil {
		return nil, fmt.Errorf("write beside the server's data: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, syncBlock)
	for began := time.Now(); len(took) == 0 || (len(took) < syncMost && time.Since(began) < syncWithin); {
		start := time.Now()
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return nil, fmt.Errorf("fdatasync: %w", err)
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}
