package orderserver

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// skewedClock is the process's clock, wrong by an offset that tests set.
type skewedClock struct {
	offset atomic.Int64 // nanoseconds
}

// Now implements idempotency.Clock.
func (c *skewedClock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// clockState is how the admin route speaks of the clock.
type clockState struct {
	Offset string `json:"offset"` // such as "1h" or "-90s"
}

func (c *skewedClock) show(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, clockState{time.Duration(c.offset.Load()).String()})
}

func (c *skewedClock) set(w http.ResponseWriter, r *http.Request) {
	var want clockState
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, idempotency.MaxBody)).Decode(&want); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_clock"})
		return
	}
	offset, err := time.ParseDuration(want.Offset)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_clock", "field": "offset"})
		return
	}
	c.offset.Store(int64(offset))
	c.show(w, r)
}
