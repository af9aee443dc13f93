package fault

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// serverEnv makes the test binary a server: what replicas run.
const serverEnv = "FAULT_TEST_SERVER"

// serveReplica is a server with switches, told everything by its arguments: the address, the file for the bound one, the admin token.
func serveReplica() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(os.Args[2]+".new", []byte(listener.Addr().String()), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(os.Args[2]+".new", os.Args[2]); err != nil {
		panic(err)
	}
	var mu sync.Mutex
	flags := map[string]bool{"idempotency_middleware": true, "new_orders_disabled": false}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /pid", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(os.Getpid()) })
	clock := map[string]string{"offset": "0s"}
	admin := func(state any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if r.Header.Get("Authorization") != "Bearer "+os.Args[3] {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			if r.Method == http.MethodPut {
				_ = json.NewDecoder(r.Body).Decode(state)
			}
			_ = json.NewEncoder(w).Encode(state)
		}
	}
	mux.HandleFunc("/admin/flags", admin(&flags))
	mux.HandleFunc("/admin/clock", admin(&clock))
	_ = http.Serve(listener, mux)
}

const testToken = "open sesame"

func startReplicas(t *testing.T, n int) []*subject.Replica {
	t.Helper()
	dir := t.TempDir()
	var replicas []*subject.Replica
	for i := 1; i <= n; i++ {
		r := subject.NewReplica(i, dir, func(addr, addrFile string) subject.Command {
			return subject.Command{
				Path: os.Args[0], Args: []string{addr, addrFile, testToken}, Env: []string{serverEnv + "=1"},
				Log: filepath.Join(dir, "log"),
			}
		})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Process().Kill(); err != nil {
				t.Error(err)
			}
		})
		replicas = append(replicas, r)
	}
	return replicas
}

// ask sends one request and gives the decoded answer; the zero value when there is none within the time.
func ask[T any](t *testing.T, url string, within time.Duration) (answer T, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer, false
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer, true
}

// struck injects a fault, lets during look at it, heals it, and gives the last event.
func struck(t *testing.T, s Spec, w World, during func()) history.Fault {
	t.Helper()
	s.For = time.Hour // healed by the end of during
	if err := ValidateAll([]Spec{s}); err != nil {
		t.Fatal(err)
	}
	timeline, err := NewTimeline([]Spec{s}, w)
	if err != nil {
		t.Fatal(err)
	}
	f := timeline.faults[0]
	if err := f.strike.Inject(t.Context()); err != nil {
		t.Fatal(err)
	}
	during()
	if err := f.strike.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	healed := f.event(history.FaultHealed, 0)
	if healed.Bit == 0 {
		t.Errorf("%s struck nothing", s.Kind)
	}
	return healed
}

// notes keeps what a fault told the checks.
type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) add(kind, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, kind+" "+text)
}
