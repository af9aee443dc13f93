package verdict

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// File is the name of a run's own file in its directory.
const File = "run.json"

// The errors of Load about a file that is there and not as it was written.
var (
	// ErrDamaged: nothing of the file can be used.
	ErrDamaged = errors.New("not a whole run.json")
	// ErrChanged: it could be read, and is returned with the error; but it is not what was written.
	ErrChanged = errors.New("the file was changed since it was written: its seal does not fit")
)

// noSeal stands in the place of the seal while that is computed. Any change of the file is noticed by it; it is no signature, and does not stop
// who wants to deceive.
var noSeal = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// Save writes run.json into dir, whole or not at all.
func Save(dir string, run Run) error {
	if run.Schema == 0 {
		run.Schema = RunSchema
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	run.Seal = noSeal
	if err := e.Encode(run); err != nil {
		return fmt.Errorf("encode %s: %w", File, err)
	}
	return wholefile.Write(filepath.Join(dir, File), func(w io.Writer) error {
		_, err := w.Write(bytes.Replace(b.Bytes(), []byte(noSeal), []byte(sealOf(b.Bytes())), 1))
		return err
	})
}

func sealOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Load reads the run.json of dir, of this or an older schema version. A damaged file and one of a newer version are errors, never an
// empty run; with ErrChanged the run is there as well, as far as it can be believed.
func Load(dir string) (Run, error) {
	path := filepath.Join(dir, File)
	b, err := os.ReadFile(path)
	if err != nil {
		return Run{}, fmt.Errorf("read the run: %w", err)
	}
	if err := wholefile.Refuse(path, b, RunSchema); err != nil {
		return Run{}, err
	}
	var run Run
	if err := json.Unmarshal(b, &run); err != nil {
		return Run{}, fmt.Errorf("read %s: %w: %w", path, ErrDamaged, err)
	}
	switch {
	case !intact(run, b):
		return run, fmt.Errorf("read %s: %w", path, ErrChanged)
	case run.Schema < 1:
		return Run{}, fmt.Errorf("read %s: %w: it has no schema version", path, ErrDamaged)
	}
	return run, nil
}

// intact holds the file against its seal. Files from before there were seals have no digests either.
func intact(run Run, b []byte) bool {
	if run.Seal == "" {
		return len(run.Digests) == 0
	}
	return len(run.Seal) == len(noSeal) && sealOf(bytes.Replace(b, []byte(run.Seal), []byte(noSeal), 1)) == run.Seal
}
