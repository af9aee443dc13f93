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
func Load(path string) (set Set, err error) { return load(path, nil) }

// LoadPacked is Load with the replays packed, and left out of the set: its list of them is empty where the file has one, and nil where it has none. They
// are nil then too.
func LoadPacked(path string) (set Set, replays *Replays, err error) {
	replays = new(Replays)
	if set, err = load(path, replays); err != nil || set.Replays == nil {
		return set, nil, err
	}
	return set, replays, nil
}

// load puts the replays into pack, if there is one.
func load(path string, pack *Replays) (set Set, err error) {
	file, err := os.Open(path)
	if err != nil {
		return set, fmt.Errorf("load evidence: %w", err)
	}
	defer file.Close()
	set, understood := readStream(file, pack)
	if !understood {
		if set, err = decode(path); err != nil {
			return set, err
		}
		if pack != nil && set.Replays != nil {
			*pack, set.Replays = *PackReplays(set.Replays), []Audit{}
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
