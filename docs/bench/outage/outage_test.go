package main

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Three seconds of what the script does for a minute: what is answered is judged here, and no time.
func TestATotalOutageIsAnswered503AndNothingElse(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "idemstorm")
	if out, err := exec.Command("go", "build", "-o", exe, "../../../cmd/idemstorm").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	o := outage{exe: exe, length: 3 * time.Second, rate: 100}
	defer func() {
		if err := o.stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if err := o.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"path-refuse", "path-hang"} {
		f, err := o.measure(t.Context(), kind, uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("\n%s", f)
		if f.refused == 0 || f.other > 0 || len(f.samples) == 0 {
			t.Errorf("%s: %d refused, %d answered otherwise, %d samples", kind, f.refused, f.other, len(f.samples))
		}
		for _, finding := range f.verdict.Findings {
			if finding.Claimed && (finding.Status == verdict.Violated && finding.Invariant != "fail-closed" || finding.Looked == 0) {
				t.Errorf("%s: %s is %s, of %d %s", kind, finding.Invariant, finding.Status, finding.Looked, finding.Unit)
			}
		}
	}
}
