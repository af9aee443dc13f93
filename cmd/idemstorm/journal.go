package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness"
)

// entry is one measurement of the track record: a trial, a luck rate, or a search.
type entry struct {
	Variant    string        `json:"variant"`
	Scenario   string        `json:"scenario,omitempty"`
	Seed       uint64        `json:"seed,omitempty"`
	Caught     bool          `json:"caught,omitempty"`
	Detection  time.Duration `json:"detection_ns,omitempty"`
	Operations int64         `json:"operations,omitempty"` // until the first violation
	Luck       *harness.Luck `json:"luck,omitempty"`
	Search     *convicted    `json:"search,omitempty"`
}

// journal keeps the measurements of a track record, so that an hour of them does not depend on its last minute. A line is whole or it is the
// last one, cut short, which is measured again.
type journal struct {
	out     io.WriteCloser // nil: nothing is kept beyond this process
	entries []entry
}

// openJournal reads what was measured before and goes on after it; without a path nothing is kept.
func openJournal(path string) (*journal, error) {
	j := &journal{}
	if path == "" {
		return j, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	whole, err := j.read(file)
	if err == nil {
		err = file.Truncate(whole)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal %s: %w", path, err), file.Close())
	}
	j.out = file
	return j, nil
}

// read takes in whole lines and returns where they end.
func (j *journal) read(r io.Reader) (whole int64, err error) {
	for lines, n := bufio.NewReader(r), 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return whole, nil // the last line, if any, has no end
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return whole, fmt.Errorf("line %d is no measurement (%w); remove the line or the file", n, err)
		}
		j.entries = append(j.entries, e)
		whole += int64(len(line))
	}
}

// Close closes the file.
func (j *journal) Close() error {
	if j.out == nil {
		return nil
	}
	return j.out.Close()
}

func (j *journal) add(e entry) error {
	j.entries = append(j.entries, e)
	if j.out == nil {
		return nil
	}
	if err := json.NewEncoder(j.out).Encode(e); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

func (j *journal) trial(t harness.Trialled) error {
	fmt.Fprintf(os.Stderr, "%s %s seed %d%s\n", mark(t.Right, true), t.Variant, t.Seed, others(t))
	return j.add(entry{
		Variant: t.Variant, Scenario: t.Scenario.Name, Seed: t.Seed, Caught: t.Right, Detection: detection(t), Operations: t.FirstOps,
	})
}

// luck gives the luck rate of a variant, measured if it was not.
func (j *journal) luck(variant string, measure func() (harness.Luck, error)) (harness.Luck, error) {
	for _, e := range j.entries {
		if e.Variant == variant && e.Luck != nil {
			return *e.Luck, nil
		}
	}
	luck, err := measure()
	if err != nil {
		return luck, err
	}
	fmt.Fprintf(os.Stderr, "luck of %s: %d of %d\n", variant, luck.Hits, luck.Pairs)
	return luck, j.add(entry{Variant: variant, Luck: &luck})
}

// search gives what the explorer made of a variant, measured if it was not.
func (j *journal) search(variant string, measure func() (convicted, error)) (convicted, error) {
	for _, e := range j.entries {
		if e.Variant == variant && e.Search != nil {
			return *e.Search, nil
		}
	}
	found, err := measure()
	if err != nil {
		return found, err
	}
	fmt.Fprintln(os.Stderr, found.line())
	return found, j.add(entry{Variant: variant, Search: &found})
}

// missing are the trials that were not held yet.
func (j *journal) missing(trials []harness.Trial) []harness.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t harness.Trial) bool { return slices.ContainsFunc(j.entries, isOf(t)) })
}

func isOf(t harness.Trial) func(entry) bool {
	return func(e entry) bool {
		return e.Luck == nil && e.Search == nil && e.Variant == t.Variant && e.Scenario == t.Scenario.Name && e.Seed == t.Seed
	}
}

// of are the entries of a variant among trials.
func (j *journal) of(variant string, trials []harness.Trial) (out []entry) {
	for _, t := range trials {
		if at := slices.IndexFunc(j.entries, isOf(t)); t.Variant == variant && at >= 0 {
			out = append(out, j.entries[at])
		}
	}
	return out
}
