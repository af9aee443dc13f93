package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/subject"
)

// The switches that every server of the contract has (section 3).
var knownFlags = []string{"idempotency_middleware", "new_orders_disabled"}

// flagFlip changes a switch of all servers, and changes it back.
var flagFlip = Kind{
	Name:  "flag",
	Story: "a switch of every server is changed while it runs, and changed back when the fault ends",
	Sees:  "idempotency_middleware off: no replays, every request executes; new_orders_disabled on: 503 new_orders_disabled",
	Holds: "a closed gate claims and executes nothing, replays included; records from before are still there afterwards",
	On:    []Target{Flags},
	Strike: func(s Spec, w World) (Strike, error) {
		if w.AdminToken == "" || w.Note == nil {
			return nil, errors.New("flag: this server has no admin route")
		}
		return &flagStrike{spec: s, world: w}, nil
	},
	Check: func(s Spec) error {
		if !slices.Contains(knownFlags, s.Flag) {
			return fmt.Errorf("flag: %q is none of %v", s.Flag, knownFlags)
		}
		return nil
	},
}

type flagStrike struct {
	spec    Spec
	world   World
	changed int64
}

// Inject implements Strike.
func (s *flagStrike) Inject(ctx context.Context) error { return s.set(ctx, s.spec.Value) }

// Heal implements Strike.
func (s *flagStrike) Heal(ctx context.Context) error { return s.set(ctx, !s.spec.Value) }

// Felt implements Strike: servers whose switch was changed.
func (s *flagStrike) Felt() int64 { return s.changed }

// noteFlag is the kind of the note that the checks read, once the value is in force on every server.
const noteFlag = "flag"

func (s *flagStrike) set(ctx context.Context, value bool) error {
	for _, r := range s.world.Replicas {
		if err := putAdmin(ctx, r, s.world.AdminToken, "flags", map[string]bool{s.spec.Flag: value}); err != nil {
			return err
		}
		s.changed++
	}
	s.world.Note(noteFlag, fmt.Sprintf("%s=%t", s.spec.Flag, value))
	return nil
}

const adminWithin = 5 * time.Second

// putAdmin changes what one of a server's admin routes is about.
func putAdmin[T any](ctx context.Context, r *subject.Replica, token, what string, values map[string]T) error {
	ctx, cancel := context.WithTimeout(ctx, adminWithin)
	defer cancel()
	body, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("encode %s: %w", what, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, r.URL()+"/admin/"+what, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("set %s of replica %d: %w", what, r.Number, err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Close = true // one request in a whole run: no connection to keep
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("set %s of replica %d: %w", what, r.Number, err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("set %s of replica %d: it answered %s", what, r.Number, resp.Status)
	}
	return nil
}
