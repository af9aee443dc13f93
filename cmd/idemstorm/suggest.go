package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// finish gives every command of the tree what all have in common: completion, and an answer to typing errors.
func finish(cmd *cobra.Command) {
	complete(cmd)
	if cmd.RunE != nil {
		cmd.RunE = suggesting(cmd.RunE)
	} else if cmd.HasSubCommands() {
		cmd.Args, cmd.RunE = cobra.ArbitraryArgs, group
	}
	for _, sub := range cmd.Commands() {
		finish(sub)
	}
}

// group is a command that only has others below it: a word that names none of them is an error, no request for help.
func group(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return cmd.Help()
}

func unknownCommand(cmd *cobra.Command, word string) error {
	var known []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	return fmt.Errorf("%s has no command %q%s; see %s --help", cmd.CommandPath(), word, didYouMean(word, known), cmd.CommandPath())
}

// flagError is what is said about a flag that cannot be read. Before a command that does not exist, its flags do not either.
func flagError(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		return unknownCommand(cmd, words[0])
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	return fmt.Errorf("%w%s; see %s --help", err, didYouMean("--"+unknown.GetSpecifiedName(), known), cmd.CommandPath())
}

// suggesting adds to an error about a name that does not exist the nearest one that does.
func suggesting(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if err == nil || shown(err) {
			return err
		}
		var code *exitError
		if hint := misspelled(cmd, args); hint != "" && (!errors.As(err, &code) || code.code == exitUsage) {
			return exitWith(exitUsage, fmt.Errorf("%s%s", withoutList(oneLine(err)), hint))
		}
		return err
	}
}

// withoutList leaves out the list of what there is: one near name says more than sixty.
func withoutList(text string) string {
	for _, before := range []string{"; there are: ", " is none of "} {
		text, _, _ = strings.Cut(text, before)
	}
	return text
}

// misspelled finds the first name on the command line that is none of those that may stand there, and says which was meant.
func misspelled(cmd *cobra.Command, args []string) (hint string) {
	if choices, ok := argChoices[cmd.CommandPath()]; ok {
		for _, arg := range args {
			hint += meantInstead(arg, choices())
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		choices, ok := flagChoices[f.Name]
		if !ok {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			hint += meantInstead(value, choices())
		}
	})
	return hint
}

func meantInstead(word string, choices []choice) string {
	var known []string
	for _, c := range choices {
		known = append(known, c.name)
	}
	if slices.Contains(known, word) {
		return ""
	}
	return didYouMean(word, known)
}

// didYouMean is "; did you mean …?" with the names that lie near a word, or nothing. What is near, cobra decides, as for its commands.
func didYouMean(word string, known []string) string {
	near := &cobra.Command{}
	for _, name := range known {
		near.AddCommand(&cobra.Command{Use: strings.ReplaceAll(name, " ", "_"), Run: func(*cobra.Command, []string) {}})
	}
	var quoted []string
	for near.SuggestionsMinimumDistance = 1; near.SuggestionsMinimumDistance <= 2 && len(quoted) == 0; near.SuggestionsMinimumDistance++ {
		for _, name := range near.SuggestionsFor(strings.ReplaceAll(word, " ", "_")) {
			quoted = append(quoted, fmt.Sprintf("%q", strings.ReplaceAll(name, "_", " ")))
		}
	}
	if len(quoted) == 0 || word == "" {
		return ""
	}
	return "; did you mean " + strings.Join(quoted[:min(3, len(quoted))], " or ") + "?"
}
