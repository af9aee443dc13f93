package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// RunFile is the name of a run's own file in its directory.
const RunFile = "run.json"

// WriteRun writes run.json at path, whole or not at all: beside it first, then renamed. A zero schema version is taken as the
// current one.
func WriteRun(path string, run verdict.Run) error {
	if run.Schema == 0 {
		run.Schema = verdict.RunSchema
	}
	return writeFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(run)
	})
}

// ReadRun reads a run.json that WriteRun wrote, of this or an older schema version. A damaged file and one of a newer version
// are errors, never an empty run.
func ReadRun(path string) (verdict.Run, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return verdict.Run{}, fmt.Errorf("read run: %w", err)
	}
	var run verdict.Run
	if err := json.Unmarshal(b, &run); err != nil {
		return verdict.Run{}, fmt.Errorf("read run %s: not a whole run.json: %w", path, err)
	}
	switch {
	case run.Schema < 1:
		return verdict.Run{}, fmt.Errorf("read run %s: it has no schema version, so it is not a run.json", path)
	case run.Schema > verdict.RunSchema:
		return verdict.Run{}, fmt.Errorf("read run %s: schema version %d is newer than this program reads (%d): use a newer idemstorm", path, run.Schema, verdict.RunSchema)
	}
	return run, nil
}
