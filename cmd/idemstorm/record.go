package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/target/zoo"
)

//go:embed record.md
var recordText string

// recordPage writes the track record; its cells are Markdown.
var recordPage = template.Must(template.New("record").Parse(recordText))

// recorded is one variant's line of the track record.
type recorded struct {
	zoo.Variant
	Runs, Caught int
	Median       time.Duration // to detection
	Longest      time.Duration
	Operations   int64 // median, until the first violation; 0 when only rows tell
	Luck         harness.Luck
	Search       *convicted // nil: no order of statements and no failure at one shows the fault
}

func newZooRecordCommand() *cobra.Command {
	var f zooFlags
	var journal string
	cmd := &cobra.Command{
		Use:   "record [VARIANT…]",
		Short: "Measure the track record and print it as Markdown (docs/track-record.md)",
		Long: `Record holds every variant several times against its scenario, with different seeds, and once against two uncontrolled clients to see how often luck
would find it. It takes a while; with --journal what was measured is kept, and the same command goes on from there.`,
		Example: `  idemstorm zoo record --runs 20 > docs/track-record.md
  idemstorm zoo record --runs 20 --journal runs/record.jsonl > docs/track-record.md`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return recordZoo(cmd.Context(), cmd.OutOrStdout(), f, args, journal)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first run; each further run takes the next")
	flags.IntVar(&f.runs, "runs", 20, "runs of each variant, with different seeds")
	flags.IntVar(&f.parallel, "parallel", 2, "variants at one time")
	flags.StringVar(&journal, "journal", "", "file that keeps each measurement, to go on from after an interruption (default: nothing is kept)")
	return cmd
}

func recordZoo(ctx context.Context, stdout io.Writer, f zooFlags, names []string, path string) (err error) {
	trials, err := f.trials(names)
	if err != nil {
		return err
	}
	kept, err := openJournal(path)
	if err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	return withTrials(ctx, trialsIn{parallel: f.parallel}, func(hold harness.Trials, lab *harness.Lab) error {
		if err := hold.Hold(ctx, lab, kept.missing(trials), kept.trial); err != nil {
			return err
		}
		lines, err := recordLines(ctx, hold, lab, kept, trials)
		if err != nil {
			return err
		}
		return recordPage.Execute(stdout, map[string]any{"Lines": lines, "Runs": f.runs, "Seed": f.seed, "Searches": searches})
	})
}

func recordLines(ctx context.Context, hold harness.Trials, lab *harness.Lab, kept *journal, trials []harness.Trial) (lines []recorded, err error) {
	for _, v := range zoo.All {
		ends := kept.of(v.Name, trials)
		if len(ends) == 0 {
			continue
		}
		line := newRecorded(v, ends)
		line.Luck, err = kept.luck(v.Name, func() (harness.Luck, error) { return hold.Luck(ctx, lab, v.Name, trials[0].Seed) })
		if err != nil {
			return nil, fmt.Errorf("luck of %s: %w", v.Name, err)
		}
		if line.Search, err = searched(ctx, kept, v); err != nil {
			return nil, fmt.Errorf("explore %s: %w", v.Name, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// searches of a variant by the explorer, of which the median time is told; they all find the same.
const searches = 5

func searched(ctx context.Context, kept *journal, v zoo.Variant) (*convicted, error) {
	if v.Explore == nil {
		return nil, nil
	}
	found, err := kept.search(v.Name, func() (convicted, error) { return zooExploreFlags{runs: searches}.convict(ctx, v) })
	return &found, err
}

func newRecorded(v zoo.Variant, ends []entry) recorded {
	r := recorded{Variant: v, Runs: len(ends)}
	var times []time.Duration
	var operations []int64
	for _, e := range ends {
		if e.Caught {
			r.Caught++
			times = append(times, e.Detection)
			operations = append(operations, e.Operations)
		}
	}
	r.Median, r.Operations = median(times), median(operations)
	if len(times) > 0 {
		r.Longest = slices.Max(times)
	}
	return r
}

func median[T cmp.Ordered](values []T) (m T) {
	if len(values) == 0 {
		return m
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// Time shows the median and the longest time to detection.
func (r recorded) Time() string {
	return fmt.Sprintf("%.1f s (%.1f s)", r.Median.Seconds(), r.Longest.Seconds())
}

// Chance shows the luck rate; a variant whose fault two simultaneous requests cannot reach has none.
func (r recorded) Chance() string {
	if r.Luck.Hits == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(r.Luck.Hits)/float64(max(1, r.Luck.Pairs)))
}

// Explorer shows how long the explorer searched, and in which schedule or at which crash point it found the fault.
func (r recorded) Explorer() string {
	switch {
	case r.Search == nil:
		return "–"
	case r.Search.Caught < r.Search.Runs:
		return fmt.Sprintf("%d of %d", r.Search.Caught, r.Search.Runs)
	}
	return fmt.Sprintf("%.1f s (%s %d)", r.Search.Median.Seconds(), r.Search.unit(), r.Search.First)
}

// Example is the public example, which must not end the table's cell.
func (r recorded) Example() string { return strings.ReplaceAll(r.Seen, "|", "/") }
