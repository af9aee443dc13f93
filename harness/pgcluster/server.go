package pgcluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// authMethod is md5 because a SCRAM handshake costs both sides thousands of hash
// rounds by design: about a millisecond more a connection, which would be measured
// as the target's latency whenever a storm reconnects, while md5 is within 0.2 ms
// of no password at all. Against a random 128-bit password on the loopback
// interface the weaker hash gives nothing away.
const authMethod = "md5"

// readyInterval is how long to wait between two attempts to connect.
const readyInterval = 5 * time.Millisecond

const selectVersion = `SHOW server_version`

// effectiveSettings lays the caller's settings over the package's own.
func effectiveSettings(options Options) map[string]string {
	settings := map[string]string{
		"listen_addresses": loopback.Host,
		"max_connections":  "300",
		"timezone":         "UTC",
		"log_timezone":     "UTC",
		"log_line_prefix":  linePrefix,
		// POSIX segments would outlive a killed server in /dev/shm; these lie in the data folder.
		"dynamic_shared_memory_type": "mmap",
	}
	if options.Fast {
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
	}
	maps.Copy(settings, options.Settings)
	return settings
}

func (c *Cluster) initialise(ctx context.Context) error {
	c.password = rand.Text() // at least 128 bits
	passwordFile := filepath.Join(c.folder.path, "password")
	if err := c.account.writeFile(passwordFile, c.password); err != nil {
		return err
	}
	defer os.Remove(passwordFile)
	cmd := c.command(
		filepath.Join(c.binDir, "initdb"), "--no-sync", "--no-instructions",
		"--encoding=UTF8", "--no-locale", "--auth="+authMethod,
		"--username="+Superuser, "--pwfile="+passwordFile, "--pgdata="+c.folder.data(),
	)
	initdb, err := launch(cmd)
	if err != nil {
		return fmt.Errorf("initialise a cluster: %w", err)
	}
	if err := initdb.finish(ctx); err != nil {
		return fmt.Errorf("initialise a cluster with %s: %w%s", cmd.Path, err, c.log.quoted())
	}
	return nil
}

func (c *Cluster) serverArguments() []string {
	arguments := []string{
		filepath.Join(c.binDir, "postgres"), "-D", c.folder.data(),
		"-p", strconv.Itoa(c.port), "-k", c.folder.path,
	}
	for _, name := range slices.Sorted(maps.Keys(c.settings)) {
		arguments = append(arguments, "-c", name+"="+c.settings[name])
	}
	return arguments
}

// command prepares a program to run as the cluster's account. The environment is
// cut down, since PGDATA and its like would redirect the server.
func (c *Cluster) command(arguments ...string) *exec.Cmd {
	cmd := exec.Command(arguments[0], arguments[1:]...)
	cmd.Dir = c.folder.path
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "LD_LIBRARY_PATH=" + os.Getenv("LD_LIBRARY_PATH"),
		"LC_ALL=C", "TZ=UTC",
	}
	cmd.Stdout, cmd.Stderr = c.log, c.log
	cmd.SysProcAttr = childAttributes()
	cmd.SysProcAttr.Credential = c.account.credential()
	return cmd
}

// awaitReady connects until the server answers, dies, or the context ends.
func (c *Cluster) awaitReady(ctx context.Context) error {
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		err := c.askVersion(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.server.exited:
			return fmt.Errorf("it ended before it answered: %w", c.server.exitError())
		case <-ctx.Done():
			return fmt.Errorf("%w; last attempt to connect: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

func (c *Cluster) askVersion(ctx context.Context) error {
	return c.withConnection(ctx, func(conn *pgx.Conn) error {
		var reported string
		if err := conn.QueryRow(ctx, selectVersion).Scan(&reported); err != nil {
			return err
		}
		c.version, _, _ = strings.Cut(reported, " ") // drop the packager's suffix
		return nil
	})
}

func (c *Cluster) withConnection(ctx context.Context, use func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, c.DSN("postgres"))
	if err != nil {
		return err
	}
	return errors.Join(use(conn), conn.Close(ctx))
}
