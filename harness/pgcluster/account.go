package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that the server runs as, when that is not ourselves. A nil
// account stands for ourselves.
type account struct {
	name     string
	uid, gid uint32
}

// dropTo picks the account to run PostgreSQL as: nil unless we are root, which
// PostgreSQL refuses.
func dropTo(name string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	candidates := []string{"postgres", "nobody"}
	if name != "" {
		candidates = []string{name}
	}
	var failures error
	for _, candidate := range candidates {
		found, err := lookUp(candidate)
		if err == nil {
			return found, nil
		}
		failures = errors.Join(failures, err)
	}
	return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no other user to drop to: %w", failures)
}

func lookUp(name string) (*account, error) {
	entry, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(entry.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user id of %s: %w", name, err)
	}
	gid, err := strconv.ParseUint(entry.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("group id of %s: %w", name, err)
	}
	if uid == 0 {
		return nil, fmt.Errorf("user %s is root under another name", name)
	}
	return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// take makes the account the owner of path.
func (a *account) take(path string) error {
	if a == nil {
		return nil
	}
	if err := os.Chown(path, int(a.uid), int(a.gid)); err != nil {
		return fmt.Errorf("give %s to user %s: %w", path, a.name, err)
	}
	return nil
}

// writeFile writes a file that only the account may read.
func (a *account) writeFile(path, content string) error {
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return fmt.Errorf("write for the server: %w", err)
	}
	return a.take(path)
}

// reachable is the folder to create the cluster's folder in: base, or by default
// the first temporary folder that the account can walk to. TMPDIR of root is
// often closed to everybody else.
func (a *account) reachable(base string) (string, error) {
	candidates := []string{base}
	if base == "" {
		candidates = []string{os.TempDir(), "/tmp", "/var/tmp"}
	}
	var failures error
	for _, candidate := range candidates {
		path, err := filepath.Abs(candidate)
		if err == nil {
			err = a.walk(path)
		}
		if err == nil {
			return path, nil
		}
		failures = errors.Join(failures, err)
	}
	return "", fmt.Errorf("find a folder for the cluster: %w", failures)
}

// walk checks that the account may enter path and every folder above it.
func (a *account) walk(path string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		if a != nil && !a.mayEnter(info) {
			return fmt.Errorf("%s is closed to user %s", at, a.name)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func (a *account) mayEnter(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && owner.Uid == a.uid:
		return info.Mode()&0o100 != 0
	case ok && owner.Gid == a.gid:
		return info.Mode()&0o010 != 0
	default:
		return info.Mode()&0o001 != 0
	}
}
