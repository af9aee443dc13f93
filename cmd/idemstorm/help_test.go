package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand calls visit for each command of the tree that this project has written.
func everyCommand(t *testing.T, visit func(*testing.T, *cobra.Command)) {
	t.Helper()
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		t.Run(cmd.CommandPath(), func(t *testing.T) { visit(t, cmd) })
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand())
}

func TestEveryCommandExplainsItselfWithAnExample(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("Short is %q: a phrase without a full stop", cmd.Short)
		}
		if len(cmd.Long) <= len(cmd.Short) {
			t.Errorf("Long says no more than Short")
		}
		if !strings.Contains(cmd.Example, "idemstorm "+strings.TrimPrefix(cmd.CommandPath(), "idemstorm ")) && cmd.HasParent() {
			t.Errorf("no example of the command itself: %q", cmd.Example)
		}
	})
}

// A help page is read at a terminal; lines that it breaks by itself are hard to read.
func TestNoLineOfAHelpTextIsLongerThanATerminal(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		for _, text := range []string{cmd.Long, cmd.Example} {
			for line := range strings.Lines(text) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > 150 {
					t.Errorf("%d characters: %s", n, line)
				}
			}
		}
	})
}

// The library prints defaults that are not zero; what a zero means, the usage must say.
func TestEveryFlagSaysWhatItMeansToLeaveItOut(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("--%s: usage %q", f.Name, f.Usage)
			}
			zero := slices.Contains([]string{"", "0", "0s", "[]"}, f.DefValue)
			required := f.Annotations[cobra.BashCompOneRequiredFlag] != nil
			if f.Value.Type() != "bool" && zero && !required && !strings.Contains(f.Usage, "default") {
				t.Errorf("--%s: %q does not say what the default is", f.Name, f.Usage)
			}
		})
	})
}

func TestAnExampleIsACommandLineThatParses(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			for _, words := range commandLines(line) {
				if err := parses(words); err != nil {
					t.Errorf("%s: %v", strings.TrimSpace(line), err)
				}
			}
		}
	})
}
