package evidence

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// sample is one line of the Prometheus text format: name{label="value",…} number.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

// eachSample reads the lines of a metrics page whose names begin with prefix. Types and comments are passed over: what is read here is
// known by name.
func eachSample(page io.Reader, prefix string, each func(sample)) error {
	lines := bufio.NewScanner(page)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" || !strings.HasPrefix(line, prefix) {
			continue
		}
		s, err := parseSample(line)
		if err != nil {
			return err
		}
		each(s)
	}
	return lines.Err()
}

func parseSample(line string) (s sample, err error) {
	end := strings.IndexAny(line, "{ \t")
	if end < 0 {
		return s, fmt.Errorf("no value in %q", line)
	}
	rest := line[end:]
	s.name = line[:end]
	if rest[0] == '{' {
		if s.labels, rest, err = parseLabels(rest[1:]); err != nil {
			return s, fmt.Errorf("%w in %q", err, line)
		}
	}
	fields := strings.Fields(rest) // value, and perhaps a timestamp
	if len(fields) == 0 {
		return s, fmt.Errorf("no value in %q", line)
	}
	s.value, err = strconv.ParseFloat(fields[0], 64)
	return s, err
}

// parseLabels reads `name="value",…}` and gives the labels and what follows the brace.
func parseLabels(s string) (labels map[string]string, rest string, err error) {
	labels = map[string]string{}
	for {
		s = strings.TrimLeft(s, ", ")
		if strings.HasPrefix(s, "}") {
			return labels, s[1:], nil
		}
		label, after, ok := strings.Cut(s, "=")
		if !ok {
			return nil, "", fmt.Errorf("a label without a value")
		}
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			return nil, "", fmt.Errorf("a label value without quotes")
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, "", err
		}
		labels[strings.TrimSpace(label)] = value
		s = after[len(quoted):]
	}
}
