package idempotency

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what became of keyed requests, each counter by endpoint (contract section 7). Every request with a
// well-formed key on a route that takes one adds to exactly one of miss (it claimed), hit (it found a record) and
// store_unavailable; replay, mismatch, in_flight, previous_failed and stale divide the hits, but for those of a NoReplay route
// that execute again. A nil *Metrics counts nothing.
type Metrics struct {
	miss, hit, replay, mismatch, inFlight, previousFailed, stale, storeUnavailable *prometheus.CounterVec
}

// NewMetrics makes the counters and registers them. A second call with the same registerer panics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "idempotency_" + name + "_total", Help: help}, []string{"endpoint"})
		reg.MustRegister(v)
		return v
	}
	return &Metrics{
		miss:             counter("miss", "Requests that claimed their key."),
		hit:              counter("hit", "Requests that found a record."),
		replay:           counter("replay", "Stored answers given again."),
		mismatch:         counter("mismatch", "Used keys with another request."),
		inFlight:         counter("in_flight", "Duplicates of a request in progress."),
		previousFailed:   counter("previous_failed", "Retries of a failed request."),
		stale:            counter("stale", "Abandoned claims that were retired."),
		storeUnavailable: counter("store_unavailable", "Requests that the store could not serve."),
	}
}

// counters are one endpoint's, looked up once. Those of a route without keys are never registered.
type counters struct {
	miss, hit, replay, mismatch, inFlight, previousFailed, stale, storeUnavailable prometheus.Counter
}

func (m *Metrics) of(route *Route) counters {
	if m == nil || route.Tier == NoKeys {
		m = NewMetrics(prometheus.NewRegistry())
	}
	endpoint := route.Endpoint
	return counters{
		miss:             m.miss.WithLabelValues(endpoint),
		hit:              m.hit.WithLabelValues(endpoint),
		replay:           m.replay.WithLabelValues(endpoint),
		mismatch:         m.mismatch.WithLabelValues(endpoint),
		inFlight:         m.inFlight.WithLabelValues(endpoint),
		previousFailed:   m.previousFailed.WithLabelValues(endpoint),
		stale:            m.stale.WithLabelValues(endpoint),
		storeUnavailable: m.storeUnavailable.WithLabelValues(endpoint),
	}
}
