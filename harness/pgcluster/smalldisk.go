package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// ErrNoSmallDisk is wrapped by the error about a machine that lets us mount nothing.
var ErrNoSmallDisk = errors.New("a small disk for PostgreSQL cannot be mounted here (it takes Linux, and root, CAP_SYS_ADMIN or user namespaces for everyone)")

const (
	tablespace       = "small"
	createTablespace = `CREATE TABLESPACE ` + tablespace + ` LOCATION '%s'`
	onTablespace     = createDatabase + ` TABLESPACE ` + tablespace
)

// smallDisk is a file system in memory that the cluster's databases lie on, so that it can be full. Only the cluster's own processes see
// it: it is mounted in their enclosure, below the cluster's folder. The log of writes and the system's catalogs are elsewhere, so that
// a full disk is an error to who writes, and no crash.
type smallDisk struct {
	in   enclosure
	path string // where it is mounted
	size int64  // bytes
}

// newSmallDisk mounts one of size bytes.
func newSmallDisk(folder *folder, size int64, owner *account) (*smallDisk, error) {
	in, err := enclose()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSmallDisk, err)
	}
	d := &smallDisk{in: in, path: filepath.Join(folder.path, "disk"), size: size}
	if err := in.do(func() error { return d.mount(owner) }); err != nil {
		in.open()
		return nil, fmt.Errorf("%w: %w", ErrNoSmallDisk, err)
	}
	return d, nil
}

func (d *smallDisk) mount(owner *account) error {
	if err := os.Mkdir(d.path, 0o700); err != nil {
		return err
	}
	if err := d.in.mountMemory(d.path, d.size, owner); err != nil {
		return err
	}
	space := d.in.seen(d.space())
	if err := os.Mkdir(space, 0o700); err != nil {
		return err
	}
	return owner.take(space)
}

// space is the folder of the tablespace.
func (d *smallDisk) space() string { return filepath.Join(d.path, "space") }

// remove gives the mount up. It is gone when the cluster's processes are.
func (d *smallDisk) remove() {
	if d != nil {
		d.in.open()
	}
}

// launch starts a program of the cluster, where it sees the small disk if there is one.
func (c *Cluster) launch(cmd *exec.Cmd) (*postmaster, error) {
	if c.disk == nil {
		return launch(cmd)
	}
	return c.disk.in.launch(cmd)
}

// useSmallDisk makes the disk a tablespace.
func (c *Cluster) useSmallDisk(ctx context.Context) error {
	err := c.withConnection(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, fmt.Sprintf(createTablespace, c.disk.space()))
		return err
	})
	if err != nil {
		return fmt.Errorf("make the small disk a tablespace: %w", err)
	}
	return nil
}

// FillDisk leaves no byte free on the small disk. A statement that needs a new page meets SQLSTATE 53100 until FreeDisk.
func (c *Cluster) FillDisk() error {
	if c.disk == nil {
		return ErrNoSmallDisk
	}
	if err := c.disk.in.do(c.disk.fill); err != nil {
		return fmt.Errorf("fill the small disk: %w", err)
	}
	return nil
}

// FreeDisk undoes FillDisk. Without one before it, it does nothing.
func (c *Cluster) FreeDisk() error {
	if c.disk == nil {
		return ErrNoSmallDisk
	}
	if err := c.disk.in.do(c.disk.free); err != nil {
		return fmt.Errorf("free the small disk: %w", err)
	}
	return nil
}

func (d *smallDisk) ballast() string { return d.in.seen(filepath.Join(d.path, "ballast")) }

// pageSize is the smallest piece that a file system in memory has to give, in bytes.
const pageSize = 4096

// fill writes large pieces while they fit, and then single pages.
func (d *smallDisk) fill() error {
	file, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, piece := range []int64{1 << 20, pageSize} {
		if err := d.writeUntilFull(file, piece); err != nil {
			return err
		}
	}
	return nil
}

// writeUntilFull ends with the disk's refusal. A disk that takes more than it has is none of ours.
func (d *smallDisk) writeUntilFull(file *os.File, piece int64) error {
	data := make([]byte, piece)
	for written := int64(0); written <= d.size; written += piece {
		if _, err := file.Write(data); errors.Is(err, syscall.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("%s takes more than its %d bytes", d.path, d.size)
}

func (d *smallDisk) free() error {
	if err := os.Remove(d.ballast()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// HasSmallDisk says whether the cluster was started with Options.SmallDisk.
func (c *Cluster) HasSmallDisk() bool { return c.disk != nil }
