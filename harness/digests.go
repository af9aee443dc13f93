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
var judgedFiles = []string{FileScenario, FileContract, FilePlan, FileHistory, FileEvidence}

// sum keeps the digests of what a run has left, whatever that is.
func sum(dir string, run *verdict.Run) (err error) {
	run.Digests, err = digestsOf(dir)
	return err
}

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

// Intact says that a file of a run is as the run left it, as far as anybody can tell: runs of older versions left no digests.
func Intact(dir string, run verdict.Run, name string) bool {
	want, known := run.Digests[name]
	if !known {
		return len(run.Digests) == 0
	}
	got, err := digestOf(filepath.Join(dir, name))
	return err == nil && got == want
}
