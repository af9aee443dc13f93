package specfile

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// Refuse is the error about a file that says, by its field "version", that it is of a newer form than newest: what else is in it cannot be
// understood then. A file that says nothing is of the first.
func Refuse(name string, data []byte, newest int) error {
	version, err := versionOf(data)
	if err != nil {
		return nil // it is for Decode to say what is wrong
	}
	if version > newest || version < 0 {
		err := fmt.Errorf("version: %d is not known to this program, which reads up to %d; use a newer idemstorm", version, newest)
		return Place(name, data, err)
	}
	return nil
}

func versionOf(data []byte) (version int, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("this is not YAML that can be read: %v", v)
		}
	}()
	var head struct {
		Version int `yaml:"version"`
	}
	err = yaml.Unmarshal(data, &head)
	return head.Version, err
}
