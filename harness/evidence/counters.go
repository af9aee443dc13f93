package evidence

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// counterPrefix is what the names of the contract's counters have in common (section 7).
const counterPrefix = "idempotency_"

// Counters scrapes every replica and sums the contract's counters, as `name{endpoint="…"}`. A URL without a path means its
// /metrics. One page that cannot be read is an error: a sum with a replica missing would say something false.
func Counters(ctx context.Context, urls []string) (map[string]float64, error) {
	sum := map[string]float64{}
	for _, address := range urls {
		url, err := metricsPage(address)
		if err != nil {
			return nil, fmt.Errorf("scrape counters: %w", err)
		}
		page, err := fetch(ctx, url)
		if err != nil {
			return nil, fmt.Errorf("scrape counters: %w", err)
		}
		if err := addCounters(sum, bytes.NewReader(page)); err != nil {
			return nil, fmt.Errorf("scrape counters of %s: %w", url, err)
		}
	}
	return sum, nil
}

func metricsPage(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/metrics"
	}
	return u.String(), nil
}

// CounterName is how Set.Counters spells the counter name of one endpoint.
func CounterName(name, endpoint string) string {
	return fmt.Sprintf("%s{endpoint=%q}", name, endpoint)
}

// addCounters reads the Prometheus text format, of which counters need only sample lines: name{label="value",…} number.
func addCounters(sum map[string]float64, page io.Reader) error {
	lines := bufio.NewScanner(page)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, counterPrefix) {
			continue
		}
		name, endpoint, value, err := parseSample(line)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, "_total") {
			sum[CounterName(name, endpoint)] += value
		}
	}
	return lines.Err()
}

// parseSample reads one sample line; labels other than endpoint are summed over.
func parseSample(line string) (name, endpoint string, value float64, err error) {
	end := strings.IndexAny(line, "{ \t")
	if end < 0 {
		return "", "", 0, fmt.Errorf("no value in %q", line)
	}
	name, rest := line[:end], line[end:]
	if rest[0] == '{' {
		if endpoint, rest, err = parseLabels(rest[1:]); err != nil {
			return "", "", 0, fmt.Errorf("%w in %q", err, line)
		}
	}
	fields := strings.Fields(rest) // value, and perhaps a timestamp
	if len(fields) == 0 {
		return "", "", 0, fmt.Errorf("no value in %q", line)
	}
	value, err = strconv.ParseFloat(fields[0], 64)
	return name, endpoint, value, err
}

// parseLabels reads `name="value",…}` and gives the endpoint's value and what follows the brace.
func parseLabels(s string) (endpoint, rest string, err error) {
	for {
		s = strings.TrimLeft(s, ", ")
		if strings.HasPrefix(s, "}") {
			return endpoint, s[1:], nil
		}
		label, after, ok := strings.Cut(s, "=")
		if !ok {
			return "", "", fmt.Errorf("a label without a value")
		}
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			return "", "", fmt.Errorf("a label value without quotes")
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return "", "", err
		}
		if strings.TrimSpace(label) == "endpoint" {
			endpoint = value
		}
		s = after[len(quoted):]
	}
}
