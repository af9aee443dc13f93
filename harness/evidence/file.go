package evidence

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// Save writes the set as JSON to path: whole or not at all.
func Save(path string, set Set) error {
	set.Schema = Schema
	return wholefile.WriteJSON(path, set, "")
}

// Load reads what Save wrote.
func Load(path string) (set Set, err error) {
	file, err := os.Open(path)
	if err != nil {
		return set, fmt.Errorf("load evidence: %w", err)
	}
	defer file.Close()
	set, understood := readStream(file)
	if !understood {
		if set, err = decode(file); err != nil {
			return set, fmt.Errorf("load evidence from %s: %w", path, err)
		}
	}
	if set.Schema != Schema {
		return set, fmt.Errorf("load evidence from %s: schema %d, this version reads %d", path, set.Schema, Schema)
	}
	return set, nil
}

// decode reads the file from its beginning by encoding/json.
func decode(file *os.File) (set Set, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return set, err
	}
	err = json.NewDecoder(file).Decode(&set)
	return set, err
}
