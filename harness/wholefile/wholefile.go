// Package wholefile writes files that are there whole or not at all, so that no result of an interrupted run looks finished.
package wholefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write lets write fill a temporary file of the same folder, which is then renamed over path. An error leaves what was at path.
func Write(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// WriteJSON writes v as JSON, its text as it is rather than escaped for HTML; indent is that of one level, "" for one line.
func WriteJSON(path string, v any, indent string) error {
	return Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", indent)
		return e.Encode(v)
	})
}
