package harness

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// The pulse tells a database that stood still from one that kept time, and from one that cannot be reached.
func TestABeatIsLateWhenTheDatabaseStandsStill(t *testing.T) {
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	file := filepath.Join(t.TempDir(), "history.jsonl.gz")
	writer, err := history.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &pulse{dsn: cluster.DSN("postgres"), zero: time.Now(), writer: writer}
	p.beat(t.Context(), time.Now().Add(time.Hour)) // early: whatever the machine does, it cannot be late
	if err := cluster.Pause(); err != nil {
		t.Fatal(err)
	}
	resumed := make(chan error)
	go func() {
		time.Sleep(2 * beatLate) // how long the database stands still, not a wait for anything
		resumed <- cluster.Resume()
	}()
	p.beat(t.Context(), time.Now())
	if err := <-resumed; err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	p.beat(stopped, time.Now().Add(-time.Hour)) // ended with the run, and no witness
	if err := cluster.Kill(); err != nil {
		t.Fatal(err)
	}
	p.beat(t.Context(), time.Now().Add(-time.Hour)) // refused at once: not late
	p.disconnect()
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	var notes []history.Note
	for e, err := range history.Read(file) {
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, *e.Note)
	}
	if len(notes) != 1 || notes[0].Kind != noteLate {
		t.Fatalf("%+v", notes)
	}
	if took, err := time.ParseDuration(notes[0].Text); err != nil || took < beatLate || took > time.Hour/2 {
		t.Errorf("it took %q", notes[0].Text)
	}
}

// The end of the watching is waited for, whether it had begun or not.
func TestThePulseEndsWithItsRun(t *testing.T) {
	r := &rig{}
	r.pulse(t.Context(), time.Now(), nil, make(chan struct{}))()
	healed := make(chan struct{})
	close(healed)
	r.store.dsn = "postgres://127.0.0.1:1/none?connect_timeout=1"
	r.pulse(t.Context(), time.Now(), nil, healed)()
}
