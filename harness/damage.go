package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
)

// damage is what is wrong with the files under a verdict.
type damage struct {
	found   []string // one sentence a file
	changed string   // the first that may say what never was; "" where what can be read is right, and only not all
	unread  error    // what ended the reading of plan or history early
	absent  string   // why there is no evidence, where a run ended too early to write it
}

// inspect holds the judged files against the digests that the run left. A run without digests, which is older or never ended, shows no damage here.
func inspect(dir string, digests map[string]verdict.Digest) (d damage) {
	for _, name := range judgedFiles {
		want, known := digests[name]
		if !known {
			continue
		}
		switch got, err := digestOf(filepath.Join(dir, name)); {
		case errors.Is(err, fs.ErrNotExist):
			d.add(name+" is missing", name == FileContract) // another contract would be taken for it
		case err != nil:
			d.add(fmt.Sprintf("%s cannot be read: %v", name, err), false)
		case got.Bytes < want.Bytes:
			d.add(fmt.Sprintf("%s is cut off: %d of its %d bytes are there", name, got.Bytes, want.Bytes), name == FileScenario)
		case got != want:
			d.add(name+" was changed since the run wrote it: its SHA-256 is another than run.json's", true)
		}
	}
	return d
}

func (d *damage) add(sentence string, changed bool) {
	d.found = append(d.found, sentence)
	if changed && d.changed == "" {
		d.changed = sentence
	}
}

// scenario falls back to the built-in scenario of the run's name where the file cannot be read; without one nothing can be judged.
func (d *damage) scenario(dir string, run verdict.Run) (scenarios.Scenario, error) {
	s, err := scenarios.Load(filepath.Join(dir, FileScenario))
	if err == nil {
		return s, nil
	}
	if s, unknown := scenarios.Find(run.Scenario); unknown == nil {
		d.add(fmt.Sprintf("%s could not be read, and the built-in %s was taken instead: %v", FileScenario, run.Scenario, err), true)
		return s, nil
	}
	return s, err
}

// evidence is an empty set where there is none to read, with the reason: what needs it is then not judged.
func (d *damage) evidence(read func() (rows, error), run verdict.Run) (set evidence.Set, replays *evidence.Replays, missing string) {
	r, err := read()
	_, written := run.Digests[FileEvidence]
	switch {
	case err == nil:
		return r.set, r.replays, ""
	case !errors.Is(err, fs.ErrNotExist):
		d.add("the evidence could not be read: "+err.Error(), false)
	case !written:
		d.absent = "the run ended before its evidence was read: " + err.Error()
	}
	return evidence.Set{}, nil, "there is no evidence that could be read"
}

// plan notices one that is whole and another than was run.
func (d *damage) plan(digest string, run verdict.Run) {
	said := slices.ContainsFunc(d.found, func(s string) bool { return strings.HasPrefix(s, FilePlan) })
	unknown := run.PlanDigest == "" && len(run.Damage) > 0
	if digest != run.PlanDigest && !said && !unknown {
		d.add("the plan file is not the plan that was run: its digest is another than run.json's", true)
	}
}

// tell puts the damage into the verdict.
func (d *damage) tell(run *verdict.Run) {
	v := &run.Verdict
	if d.absent != "" {
		v.Doubts = append(v.Doubts, d.absent)
	}
	if d.changed == "" && errors.Is(d.unread, history.ErrCorrupt) {
		d.changed = d.unread.Error() // the checks have found and told it
	}
	v.Partial = v.Partial || len(d.found) > 0
	v.Doubts = append(slices.Clone(d.found), v.Doubts...)
	if len(run.Damage) > 0 {
		v.DistrustGates(run.Damage[0]) // the latencies stand in run.json
	}
	if d.changed != "" {
		v.Distrust(d.changed)
	}
}
