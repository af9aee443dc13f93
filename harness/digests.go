package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// judgedFiles are those that a verdict follows from; a change to any of them is one to the verdict.
var judgedFiles = []string{FileScenario, FilePlan, FileHistory, FileEvidence}

// digestsOf sums up every file of a run directory beside run.json. The reports are not there yet: they may be made anew at any time.
func digestsOf(dir string) (map[string]verdict.Digest, error) {
	names, err := filesOf(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]verdict.Digest{}
	for _, name := range names {
		if out[name], err = digestOf(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func digestOf(path string) (d verdict.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, fmt.Errorf("sum %s up: %w", filepath.Base(path), err)
	}
	defer f.Close()
	sum := sha256.New()
	if d.Bytes, err = io.Copy(sum, f); err != nil {
		return d, fmt.Errorf("sum %s up: %w", path, err)
	}
	d.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return d, nil
}
