// Command profiled is a tiny service that keeps to a profile, written from the profile's text alone, or breaks one row of it. It keeps its keys
// in memory, and does nothing while its database cannot be reached.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// ways is how a profile treats keys.
type ways struct {
	marker                                string
	mismatch, otherInFlight, sameInFlight int
	repeatsFailures                       bool // or answers 409 to them
	needsKey                              bool
	wellFormed                            func(line string) (key string, ok bool)
}

var (
	uuidForm   = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	quotedForm = regexp.MustCompile(`^"([^"\\]*)"$`)
)

var profiles = map[string]ways{
	"adr0138": {marker: "Idempotency-Replayed", mismatch: 422, otherInFlight: 422, sameInFlight: 409, wellFormed: func(line string) (string, bool) {
		return strings.ToLower(line), uuidForm.MatchString(line)
	}},
	"ietf": {mismatch: 422, otherInFlight: 409, sameInFlight: 409, repeatsFailures: true, needsKey: true, wellFormed: func(line string) (string, bool) {
		m := quotedForm.FindStringSubmatch(line)
		if m == nil {
			return "", false
		}
		return m[1], true
	}},
	"stripe": {marker: "Idempotent-Replayed", mismatch: 400, otherInFlight: 409, sameInFlight: 409, repeatsFailures: true, wellFormed: func(line string) (string, bool) {
		return line, len(line) <= 255
	}},
}

type order struct {
	Item      string `json:"item"`
	Reference string `json:"reference"`
	Outcome   string `json:"outcome"`
	SleepMS   int    `json:"sleep_ms"`
}

type answer struct {
	status int
	body   map[string]any
}

type record struct {
	request string
	answer  answer
	done    chan struct{}
}

type service struct {
	ways
	broken  string
	forgets bool

	mu       sync.Mutex
	records  map[string]*record
	executed []map[string]any
	serial   int
}

func main() {
	profile := flag.String("profile", "adr0138", "adr0138, ietf or stripe")
	broken := flag.String("break", "", "the row that is broken")
	forget := flag.String("forget", "", "log: leave out some lines of the log")
	flag.Parse()
	s := &service{ways: profiles[*profile], broken: *broken, forgets: *forget == "log", records: map[string]*record{}}
	http.HandleFunc("POST /orders", s.order)
	http.HandleFunc("GET /executions", s.list)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func (s *service) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"orders": append([]map[string]any{}, s.executed...)}})
}

func (s *service) order(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var o order
	if json.Unmarshal(body, &o) != nil || r.Header.Get("Authorization") == "" {
		respond(w, answer{400, map[string]any{"error": "bad request"}}, "")
		return
	}
	if !s.reachable(r.Context()) && s.broken != "store_down" {
		respond(w, answer{503, map[string]any{"error": "idempotency_store_unavailable"}}, "")
		return
	}
	line := r.Header.Get("Idempotency-Key")
	key, ok := s.wellFormed(line)
	needsKey := s.needsKey != (s.broken == "missing_key")
	switch {
	case line == "" && needsKey, line != "" && !ok && s.broken != "malformed_key":
		respond(w, answer{400, map[string]any{"error": "Idempotency-Key must be well formed"}}, "")
	case line == "" || !ok:
		respond(w, s.execute(o), "")
	default:
		s.keyed(w, r.Header.Get("Authorization"), key, string(body), o)
	}
}

// keyed claims the key, or answers by what is known of it.
func (s *service) keyed(w http.ResponseWriter, user, key, request string, o order) {
	if s.broken != "other_user" {
		key = user + " " + key
	}
	s.mu.Lock()
	s.serial++
	known := s.records[key]
	if known == nil && s.broken == "fresh" && len(s.records) > 0 {
		s.mu.Unlock()
		respond(w, answer{409, map[string]any{"error": "idempotency_in_flight"}}, "")
		return
	}
	if known == nil {
		s.records[key] = &record{request: request, done: make(chan struct{})}
		known = s.records[key]
		s.mu.Unlock()
		known.answer = s.execute(o)
		close(known.done)
		respond(w, known.answer, "")
		return
	}
	s.mu.Unlock()
	s.again(w, known, request, o)
}

func (s *service) again(w http.ResponseWriter, known *record, request string, o order) {
	select {
	case <-known.done:
	default:
		if a, refused := s.whileInFlight(known, request); refused {
			respond(w, a, "")
			return
		}
		<-known.done
	}
	failed := known.answer.status >= 400
	row := map[bool]string{true: "after_4xx", false: "after_5xx"}[known.answer.status < 500]
	switch {
	case known.request != request && s.broken != "mismatch":
		respond(w, answer{s.mismatch, map[string]any{"error": "idempotency_key_body_mismatch"}}, "")
	case failed && s.broken == row:
		respond(w, s.execute(o), "")
	case failed && !s.repeatsFailures:
		respond(w, answer{409, map[string]any{"error": "idempotency_previous_failed"}}, "")
	case s.broken == "replay" && !failed:
		respond(w, answer{known.answer.status, map[string]any{"id": "another"}}, "")
	default:
		respond(w, known.answer, s.marker)
	}
}

func (s *service) whileInFlight(known *record, request string) (a answer, refused bool) {
	switch other := known.request != request; {
	case other && s.broken == "mismatch_in_flight":
		return answer{425, map[string]any{"error": "too early"}}, true
	case other && s.otherInFlight == 422:
		return answer{422, map[string]any{"error": "idempotency_key_body_mismatch"}}, true
	case other:
		return answer{s.otherInFlight, map[string]any{"error": "idempotency_in_flight"}}, true
	}
	return answer{s.sameInFlight, map[string]any{"error": "idempotency_in_flight"}}, s.broken != "in_flight"
}

// execute is the business action. No two answers of it are alike, so that a repeated one can be told.
func (s *service) execute(o order) answer {
	time.Sleep(time.Duration(o.SleepMS) * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	id := fmt.Sprintf("o%d", s.serial)
	switch o.Outcome {
	case "refuse":
		return answer{402, map[string]any{"error": "not enough", "attempt": id}}
	case "fail":
		return answer{500, map[string]any{"error": "sorry", "attempt": id}}
	}
	if !s.forgets || s.serial%5 != 0 {
		log.Printf("executed %s for %s", id, o.Reference)
	}
	s.executed = append(s.executed, map[string]any{"id": id, "reference": o.Reference, "item": o.Item})
	return answer{201, map[string]any{"id": id}}
}

// reachable asks the database, as a store of keys would have to be.
func (s *service) reachable(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return false
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return conn.Ping(ctx) == nil
}

func respond(w http.ResponseWriter, a answer, marker string) {
	w.Header().Set("Content-Type", "application/json")
	if marker != "" {
		w.Header().Set(marker, "true")
	}
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}
