package harness

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// serverSettings decide how fast a commit is and what it keeps.
const serverSettings = `
	SELECT name, current_setting(name) FROM unnest(ARRAY['server_version', 'fsync', 'synchronous_commit', 'synchronous_standby_names',
	       'full_page_writes', 'wal_level', 'wal_sync_method', 'commit_delay', 'shared_buffers', 'max_wal_size', 'checkpoint_timeout', 'max_connections',
	       'default_transaction_isolation', 'deadlock_timeout', 'lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']) AS name`

// Version names this build: module version and revision where the build knows them.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(version, s.Value[:min(12, len(s.Value))]) {
			version += " " + s.Value[:min(12, len(s.Value))]
		}
	}
	return version
}

// Environment says what a reader needs in order to compare what was measured here with another: this machine, and where dsn is not empty, the
// database behind it. Where that is ours its disk is timed too.
func Environment(ctx context.Context, dsn string, ours bool) ([]verdict.Fact, error) {
	facts := []verdict.Fact{
		{Name: "go", Value: runtime.Version()},
		{Name: "cpu", Value: fmt.Sprintf("%s × %d", cpuModel(), runtime.NumCPU())},
		{Name: "memory", Value: memory()},
		{Name: "kernel", Value: kernel()},
	}
	if dsn == "" { // the database is somebody else's
		return facts, nil
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return facts, fmt.Errorf("read the server's settings: %w", err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, serverSettings)
	if err != nil {
		return facts, fmt.Errorf("read the server's settings: %w", err)
	}
	settings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[verdict.Fact])
	for _, s := range settings {
		facts = append(facts, verdict.Fact{Name: "postgresql " + s.Name, Value: cmp.Or(s.Value, "(empty)")})
	}
	if err != nil {
		return facts, fmt.Errorf("read the server's settings: %w", err)
	}
	return append(facts, verdict.Fact{Name: "disk", Value: disk(ctx, conn, ours)}), nil
}

func cpuModel() string { return procLine("/proc/cpuinfo", "model name", runtime.GOARCH) }

func memory() string { return procLine("/proc/meminfo", "MemTotal", "unknown") }

// procLine is the value of the first line of a /proc file that starts with a name.
func procLine(path, name, otherwise string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return otherwise
	}
	for line := range strings.Lines(string(data)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// reproduce is the command line that runs the same plan again.
func (o Options) reproduce() string {
	if o.Again != "" {
		return o.Again
	}
	parts := []string{"idemstorm", "run", o.scenarioRef(), "--seed", strconv.FormatUint(o.Seed, 10)}
	if o.Target != nil {
		parts = append(parts, "--target", o.Target.Given())
	}
	if o.Variant != "" {
		parts = append(parts, "--variant", o.Variant)
	}
	if o.Strategy != "" {
		parts = append(parts, "--strategy", o.Strategy)
	}
	if o.Replicas != 0 {
		parts = append(parts, "--replicas", strconv.Itoa(o.Replicas))
	}
	if o.Duration != 0 {
		parts = append(parts, "--duration", o.Duration.String())
	}
	if o.Rate != 0 {
		parts = append(parts, "--rate", strconv.FormatFloat(o.Rate, 'g', -1, 64))
	}
	return strings.Join(parts, " ")
}
