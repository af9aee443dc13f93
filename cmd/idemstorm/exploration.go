package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/wholefile"
	"github.com/idemstorm/idemstorm/reports"
)

// scheduleFile is what --replay takes, in the folder of --out.
const scheduleFile = "schedule.json"

// saveExploration writes the files of --out, each whole or not at all; the result first, since the others can be made from it. A schedule of
// an earlier exploration must not stand beside a result that has none.
func saveExploration(dir string, result schedule.Result) error {
	if dir == "" {
		return nil
	}
	if err := saveJSON(dir, result); err != nil {
		return err
	}
	path := filepath.Join(dir, scheduleFile)
	var err error
	if result.Schedule != nil {
		err = result.Schedule.Save(path)
	} else if err = os.Remove(path); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, reports.SaveExplorationHTML(dir, result))
}

func saveCrashes(dir string, result schedule.CrashResult) error {
	if dir == "" {
		return nil
	}
	if err := saveJSON(dir, result); err != nil {
		return err
	}
	return reports.SaveCrashHTML(dir, result)
}

func saveJSON(dir string, result any) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for the result: %w", err)
	}
	return wholefile.WriteJSON(filepath.Join(dir, reports.ExplorationFile), result, "  ")
}

// repeated are the flags that decide what is found; the others say what to do with it.
var repeated = []string{
	"target", "variant", "case", "route", "requests", "isolation", "replicas", "preemptions", "schedules", "time", "all", "no-reduction",
	"quiet-after", "crash-points", "fault", "cross", "replayed", "params",
}

// commandAgain is the command line that does the same once more.
func commandAgain(cmd *cobra.Command) string {
	words := []string{"idemstorm", "explore"}
	for _, name := range repeated {
		flag := cmd.Flags().Lookup(name)
		value := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		switch {
		case !flag.Changed:
		case value == "true":
			words = append(words, "--"+name)
		case value == "false":
			words = append(words, "--"+name+"=false")
		default:
			words = append(words, "--"+name, shellQuote(value))
		}
	}
	return strings.Join(words, " ")
}

// shellQuote makes one word of an argument.
func shellQuote(arg string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:,+@%", r)
	}
	if arg != "" && strings.IndexFunc(arg, odd) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
