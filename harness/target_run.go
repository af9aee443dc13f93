package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// contract is what the server under test promises.
func (o Options) contract() contract.Contract {
	if o.Target != nil {
		return o.Target.Contract()
	}
	return o.Scenario.Subject.Contract()
}

// saveContract keeps what somebody else's server promises beside the facts, so that a run can be judged again without its target file.
func (o Options) saveContract() error {
	if o.Target == nil {
		return nil
	}
	return wholefile.WriteJSON(contractPath(o.Dir), o.contract(), "  ")
}

// contractOf is what the server of a run directory promises: what was kept, or what the scenario's own spec says.
func contractOf(dir string, bundled contract.Contract) (c contract.Contract, err error) {
	data, err := os.ReadFile(contractPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return bundled, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read what the server promises: %w", err)
	}
	return c, nil
}

// targetLine says in one line what was tested.
func (o Options) targetLine() string {
	t := o.Target
	if t.Running() {
		return fmt.Sprintf("%s, running at %s", t.Name, strings.Join(t.URL, ", "))
	}
	return fmt.Sprintf("%s, %d process(es) of %s", t.Name, t.Start.Replicas, strings.Join(t.Start.Command, " "))
}

// targetFacts say in the report which file described the server, and what was judged by.
func (o Options) targetFacts() []verdict.Fact {
	if o.Target == nil {
		return nil
	}
	facts := []verdict.Fact{{Name: "target file", Value: o.Target.File()}}
	if data, err := os.ReadFile(o.Target.File()); err == nil {
		sum := sha256.Sum256(data)
		facts = append(facts, verdict.Fact{Name: "target file sha256", Value: hex.EncodeToString(sum[:])})
	}
	profile := o.Target.Promise.Profile
	if profile == "" {
		profile = "none; contract.profile names one"
	}
	return append(facts, verdict.Fact{Name: "contract profile", Value: profile},
		verdict.Fact{Name: "evidence", Value: strings.Join(o.Target.Evidence.Sources(), ", ")})
}

// reviveEvery is how often the processes of a target are looked at.
const reviveEvery = 50 * time.Millisecond

// supervise starts processes of a target again that end by themselves, as its supervisor would, until the returned function is called; some
// servers end when their database goes away. Where a fault strikes processes, that is the fault's own business.
func (r *rig) supervise(ctx context.Context, faults []fault.Spec, note func(kind, text string)) (stop func()) {
	if r.target == nil || len(r.replicas) == 0 || strikesProcesses(faults) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(reviveEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				r.revive(ctx, note)
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

func strikesProcesses(faults []fault.Spec) bool {
	for _, f := range faults {
		if f.Target() == fault.Replica {
			return true
		}
	}
	return false
}

// revive starts again what has ended. One that does not come up is tried again the next time.
func (r *rig) revive(ctx context.Context, note func(kind, text string)) {
	for _, replica := range r.replicas {
		select {
		case <-replica.Process().Exited():
			if replica.Start(ctx) == nil {
				note("replica", fmt.Sprintf("process %d had ended by itself, and was started again", replica.Number))
			}
		default:
		}
	}
}

// noter writes notes by the run's clock.
func noter(zero time.Time, writer *history.Writer) func(kind, text string) {
	return func(kind, text string) {
		writer.Note(history.Note{AtNS: int64(time.Since(zero)), Kind: kind, Text: text})
	}
}
