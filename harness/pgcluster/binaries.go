package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoBinaries is what FindBinaries returns, wrapped, when there are none.
var ErrNoBinaries = errors.New("no PostgreSQL server binaries")

// installFolders are where packages put the binaries, as glob patterns: Debian,
// RPM, Homebrew on ARM and on Intel, and a build from source.
var installFolders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/usr/local/pgsql/bin",
}

// FindBinaries returns the folder that holds postgres and initdb. A folder that
// is given must hold them; otherwise PATH, pg_config and the packages' usual
// folders are searched, newest version first. The error, ErrNoBinaries, lists
// where it looked.
func FindBinaries(given string) (string, error) {
	if given != "" {
		if !complete(given) {
			return "", fmt.Errorf("%w: %s does not hold both postgres and initdb", ErrNoBinaries, given)
		}
		return filepath.Abs(given)
	}
	return search(installFolders)
}

func search(patterns []string) (string, error) {
	for _, find := range []func() string{onPath, besideConfig} {
		if dir := find(); dir != "" && complete(dir) {
			return dir, nil
		}
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		slices.SortFunc(found, newestFirst)
		if at := slices.IndexFunc(found, complete); at >= 0 {
			return found[at], nil
		}
	}
	return "", fmt.Errorf("%w: looked on PATH, where pg_config points, and in %s",
		ErrNoBinaries, strings.Join(patterns, ", "))
}

// onPath follows links, because PATH may hold single links to the programs while
// their libraries are found relative to the real place.
func onPath() string {
	path, err := exec.LookPath("postgres")
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	return filepath.Dir(path)
}

func besideConfig() string {
	dir, err := exec.Command("pg_config", "--bindir").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(dir))
}

// complete reports whether dir holds both programs that a cluster needs.
func complete(dir string) bool {
	for _, program := range []string{"postgres", "initdb"} {
		info, err := os.Stat(filepath.Join(dir, program))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// newestFirst orders folders by the version number in their path, falling.
func newestFirst(a, b string) int {
	return slices.Compare(versionIn(b), versionIn(a))
}

// versionIn reads "15" or "9.6" out of the folder above bin.
func versionIn(dir string) []int {
	name := filepath.Base(filepath.Dir(dir))
	name = name[strings.LastIndexAny(name, "-@")+1:]
	var version []int
	for part := range strings.SplitSeq(name, ".") {
		number, _ := strconv.Atoi(part)
		version = append(version, number)
	}
	return version
}

// binaries finds the server's programs, or fetches them.
func binaries(ctx context.Context, options Options) (string, error) {
	dir, err := FindBinaries(options.BinDir)
	if err == nil || options.BinDir != "" {
		return dir, err
	}
	dir, fetchErr := options.Download.fetch(ctx)
	if fetchErr != nil {
		return "", fmt.Errorf("%w; download: %w; %s", err, fetchErr, waysOut)
	}
	return dir, nil
}
