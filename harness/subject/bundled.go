package subject

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Bundled is the reference server, or a broken variant of it, started from a binary that has the commands serve, migrate and seed.
type Bundled struct {
	Exe        string // path of the binary
	Variant    string // "" for the reference
	Spec       Spec
	Dir        string // takes logs and address files
	AdminToken string
	Redis      string   // host:port of a redis for it; "" for none
	Env        []string // of the servers, as NAME=value, beside what the rest says
}

// Seed asks for users that a run can spend.
type Seed struct {
	Users, Positions int
	Cash             string
	Value            uint64 // makes the tokens
}

// Prepare migrates the database behind dsn and fills it.
func (b Bundled) Prepare(ctx context.Context, dsn string, seed Seed) (Fixture, error) {
	var f Fixture
	if _, err := b.call(ctx, dsn, "migrate", "up"); err != nil {
		return f, err
	}
	out, err := b.call(ctx, dsn, "seed", "--users", strconv.Itoa(seed.Users), "--positions", strconv.Itoa(seed.Positions),
		"--cash", seed.Cash, "--seed", strconv.FormatUint(seed.Value, 10))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(out, &f); err != nil {
		return f, fmt.Errorf("read what seed printed: %w", err)
	}
	return f, nil
}

// Run runs a maintenance command on the database behind dsn, as the variant does it.
func (b Bundled) Run(ctx context.Context, dsn string, args ...string) error {
	if b.Variant != "" {
		args = append(args, "--variant", b.Variant)
	}
	_, err := b.call(ctx, dsn, args...)
	return err
}

// call runs one command of the binary to its end and returns what it printed.
func (b Bundled) call(ctx context.Context, dsn string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.Exe, args...)
	cmd.Env = append(cmd.Environ(), "DATABASE_URL="+dsn)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(b.Exe), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// Replica makes the n-th replica, from 1, which reaches the outside by paths.
func (b Bundled) Replica(n int, paths Paths) *Replica {
	spec := b.Spec.WithDefaults()
	return NewReplica(n, b.Dir, func(addr, addrFile string) Command {
		return Command{
			Path: b.Exe,
			Args: b.args(spec, addr, addrFile),
			Env: append([]string{
				"DATABASE_URL=" + paths.Database,
				"IDEMPOTENCY_DATABASE_URL=" + paths.Store,
				"PAYMENT_PROVIDER_URL=" + paths.Provider,
				"ADMIN_TOKEN=" + b.AdminToken,
				"IDEMSTORM_REDIS_ADDR=" + b.Redis,
			}, b.Env...),
			Log: b.LogPath(n),
		}
	})
}

func (b Bundled) args(spec Spec, addr, addrFile string) []string {
	args := []string{
		"serve", "--addr", addr, "--addr-file", addrFile,
		"--stale-after", spec.StaleAfter.String(), "--request-deadline", spec.Deadline.String(),
		"--pool-size", strconv.Itoa(spec.Pool), "--store-pool-size", strconv.Itoa(spec.StorePool),
	}
	if spec.HandlerDelay > time.Duration(0) {
		args = append(args, "--handler-delay", spec.HandlerDelay.String())
	}
	if spec.Isolation != "" {
		args = append(args, "--isolation", spec.Isolation)
	}
	if spec.Strategy != "" {
		args = append(args, "--strategy", spec.Strategy)
	}
	for _, r := range spec.Contract().Routes {
		if ttl, ok := spec.TTL[r.ID]; ok {
			args = append(args, "--ttl", r.Scope()+"="+ttl.String())
		}
	}
	if b.Variant != "" {
		args = append(args, "--variant", b.Variant)
	}
	return args
}

// LogPath is the file that takes the n-th replica's log.
func (b Bundled) LogPath(n int) string {
	return filepath.Join(b.Dir, fmt.Sprintf("server-%d.log", n))
}
