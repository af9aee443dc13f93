package evidence

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Save writes the set as JSON to path: whole or not at all.
func Save(path string, set Set) error {
	set.Schema = Schema
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial")
	if err != nil {
		return fmt.Errorf("save evidence: %w", err)
	}
	defer os.Remove(file.Name()) // fails after the rename, as it should
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(set)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save evidence to %s: %w", path, err)
	}
	return nil
}

// Load reads what Save wrote.
func Load(path string) (set Set, err error) {
	file, err := os.Open(path)
	if err != nil {
		return set, fmt.Errorf("load evidence: %w", err)
	}
	defer file.Close()
	if err := json.NewDecoder(file).Decode(&set); err != nil {
		return set, fmt.Errorf("load evidence from %s: %w", path, err)
	}
	if set.Schema != Schema {
		return set, fmt.Errorf("load evidence from %s: schema %d, this version reads %d", path, set.Schema, Schema)
	}
	return set, nil
}
