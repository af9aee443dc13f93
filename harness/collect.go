package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
)

// collectWithin bounds the reading of the evidence, which is done for an interrupted run too.
const collectWithin = 2 * time.Minute

// collect reads what the run left behind, in this order: what the servers hold and the counters while the servers still run; the rows when the servers have
// stopped, so that nothing can still be written; the ledger; the logs.
func collect(ctx context.Context, r *rig, o Options, before evidence.Set) error {
	if r.target != nil {
		return collectTarget(ctx, r, o)
	}
	after := r.after(ctx, before.Before)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), collectWithin)
	defer cancel()
	counters, err := r.counters(ctx)
	if err != nil {
		return err
	}
	if err := r.stopReplicas(ctx); err != nil {
		return err
	}
	set, err := evidence.Read(ctx, r.store.dsn, evidence.Bundled())
	if err != nil {
		return err
	}
	set.Opening, set.Counters, set.Before, set.After = before.Opening, counters, before.Before, after
	if set.Charges, err = evidence.FromProvider(ctx, r.provider.URL()); err != nil {
		return err
	}
	if set.Secrets, set.Scanned, err = r.secrets(set.Records); err != nil {
		return err
	}
	return evidence.Save(filepath.Join(o.Dir, FileEvidence), set)
}

// counters are nil when a replica does not answer any more, or was started again: what it had counted is lost.
func (r *rig) counters(ctx context.Context) (map[string]float64, error) {
	for _, replica := range r.replicas {
		if replica.Restarted() {
			return nil, nil
		}
		select {
		case <-replica.Process().Exited():
			return nil, nil
		default:
		}
	}
	counters, err := evidence.Counters(ctx, r.urls())
	if err != nil {
		return nil, fmt.Errorf("read the servers' counters: %w", err)
	}
	return counters, nil
}

// secrets searches logs and stored answers for what must never be there.
func (r *rig) secrets(records []evidence.Record) (found []history.Row, scanned int64, err error) {
	places, closeAll, err := openLogs(r.logs())
	if err != nil {
		return nil, 0, err
	}
	defer closeAll()
	known := []string{r.bundle.AdminToken, r.fixture.ServiceToken}
	for _, u := range r.fixture.Users {
		known = append(known, u.Token)
	}
	return evidence.ScanSecrets(append(places, evidence.RecordBodies(records)...), known)
}

func openLogs(paths []string) (places []evidence.Place, closeAll func(), err error) {
	var files []*os.File
	closeAll = func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("open a server's log: %w", err)
		}
		files = append(files, f)
		places = append(places, evidence.Place{Name: filepath.Base(path), Text: f})
	}
	return places, closeAll, nil
}
