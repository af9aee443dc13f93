package verdict

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// File is the name of a run's own file in its directory.
const File = "run.json"

// Save writes run.json into dir, whole or not at all.
func Save(dir string, run Run) error {
	if run.Schema == 0 {
		run.Schema = RunSchema
	}
	return wholefile.WriteJSON(filepath.Join(dir, File), run, "  ")
}

// Load reads the run.json of dir, of this or an older schema version. A damaged file and one of a newer version are errors, never an
// empty run.
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
		return Run{}, fmt.Errorf("read %s: not a whole run.json: %w", path, err)
	}
	if run.Schema < 1 {
		return Run{}, fmt.Errorf("read %s: it has no schema version, so it is not a run.json", path)
	}
	return run, nil
}
