package evidence

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
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

// addCounters sums the contract's counters of one page up.
func addCounters(sum map[string]float64, page io.Reader) error {
	return eachSample(page, counterPrefix, func(s sample) {
		if strings.HasSuffix(s.name, "_total") {
			sum[CounterName(s.name, s.labels["endpoint"])] += s.value
		}
	})
}
