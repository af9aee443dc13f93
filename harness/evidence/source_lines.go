package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// FromLines reads executions from files, one a line: as JSON by n, or by a pattern with a group key or token. Other lines are left out. A file
// that is not there has no lines yet.
func FromLines(paths []string, n Naming, pattern *regexp.Regexp) ([]Execution, error) {
	out := []Execution{}
	for _, path := range paths {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) && len(paths) > 1 {
			continue
		}
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, longestLine)
		for place := 0; lines.Scan(); place++ {
			if e, ok := readLine(lines.Bytes(), place, n, pattern); ok {
				out = append(out, e)
			}
		}
		if err := errors.Join(lines.Err(), file.Close()); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return out, nil
}

func readLine(line []byte, place int, n Naming, pattern *regexp.Regexp) (e Execution, ok bool) {
	if pattern == nil {
		e, err := n.execution(line, place)
		return e, err == nil && e.Name != ""
	}
	groups := pattern.FindSubmatch(line)
	if groups == nil {
		return e, false
	}
	e.ID, e.Columns = strconv.Itoa(place+1), map[string]string{"line": string(line)}
	for i, name := range pattern.SubexpNames() {
		switch name {
		case "key", "token":
			e.Name = strings.Trim(string(groups[i]), `"`)
		case "id":
			e.ID = string(groups[i])
		}
	}
	return e, e.Name != ""
}
