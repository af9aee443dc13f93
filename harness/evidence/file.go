package evidence

import (
	"encoding/json"
	"fmt"
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
		if set, err = decode(path); err != nil {
			return set, err
		}
	}
	if err := wholefile.RefuseVersion(path, set.Schema, Schema); err != nil {
		return set, err
	}
	if set.Schema != Schema {
		return set, fmt.Errorf("load evidence from %s: schema %d, this version reads %d", path, set.Schema, Schema)
	}
	return set, nil
}

// decode reads the file by encoding/json.
func decode(path string) (set Set, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return set, fmt.Errorf("load evidence: %w", err)
	}
	if err := wholefile.Refuse(path, data, Schema); err != nil {
		return set, err
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return set, fmt.Errorf("load evidence from %s: %w", path, err)
	}
	return set, nil
}
