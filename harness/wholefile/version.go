package wholefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNewer is wrapped by the error about a file that a newer program has written.
var ErrNewer = errors.New("use a newer idemstorm")

// Refuse is the error about a JSON file whose member "schema" says that it is of a newer form than newest. It is asked before the rest is
// read, which may be of other types then. What has no version, or cannot be read, is for the reader to refuse.
func Refuse(path string, data []byte, newest int) error {
	return RefuseVersion(path, versionOf(data), newest)
}

// RefuseVersion is Refuse for a version that is known.
func RefuseVersion(path string, version, newest int) error {
	if version > newest {
		return fmt.Errorf("read %s: schema version %d is newer than this program reads (%d); %w", path, version, newest, ErrNewer)
	}
	return nil
}

// versionOf looks at the first member alone where that is the version, as in every file that this project writes; evidence may be large.
func versionOf(data []byte) int {
	tokens := json.NewDecoder(bytes.NewReader(data))
	var head [3]json.Token
	for i := range head {
		head[i], _ = tokens.Token()
	}
	if version, ok := head[2].(float64); ok && head[1] == "schema" {
		return int(version)
	}
	var members struct {
		Schema int `json:"schema"`
	}
	_ = json.Unmarshal(data, &members)
	return members.Schema
}
