package evidence

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// PoolWaits is how often, and for how long in all, a server's requests have waited for a connection since it started.
type PoolWaits struct {
	Count int64
	Time  time.Duration
}

// The metrics of the bundled server's pools that say so, one sample a pool.
const (
	metricWaits    = "db_pool_waits"
	metricWaitTime = "db_pool_wait_seconds"
)

// ReadPoolWaits asks one server and sums its pools up. A URL without a path means its /metrics. False is for a server that does not publish it.
func ReadPoolWaits(ctx context.Context, address string) (w PoolWaits, published bool, err error) {
	url, err := metricsPage(address)
	if err != nil {
		return w, false, fmt.Errorf("scrape pool waits: %w", err)
	}
	page, err := fetch(ctx, url)
	if err != nil {
		return w, false, fmt.Errorf("scrape pool waits: %w", err)
	}
	err = eachSample(bytes.NewReader(page), "db_pool_wait", func(s sample) {
		switch s.name {
		case metricWaits:
			w.Count += int64(s.value)
		case metricWaitTime:
			w.Time += time.Duration(s.value * float64(time.Second))
			published = true
		}
	})
	if err != nil {
		return w, false, fmt.Errorf("scrape pool waits of %s: %w", url, err)
	}
	return w, published, nil
}
