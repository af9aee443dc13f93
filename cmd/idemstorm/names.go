package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/scenarios"
	"github.com/idemstorm/idemstorm/target/zoo"
)

// choice is one name that a flag or an argument may take, and what it stands for.
type choice struct{ name, about string }

// flagChoices are the flags whose value is one of a list of names, by the flag's name, which means the same in every command. The shell
// completes from here, and a typing error is answered by the nearest.
var flagChoices = map[string]func() []choice{
	"suite":     suiteChoices,
	"variant":   variantChoices,
	"strategy":  strategyChoices,
	"case":      caseChoices,
	"fault":     func() []choice { return plainChoices(lab.CrashFaults()) },
	"isolation": func() []choice { return plainChoices([]string{"read committed", "repeatable read", "serializable"}) },
	"route":     func() []choice { return plainChoices([]string{"order", "checkout"}) },
	"log-level": func() []choice { return plainChoices([]string{"debug", "info", "warn", "error"}) },
}

// argChoices are the same of arguments, by the command's path.
var argChoices = map[string]func() []choice{
	"idemstorm run":            scenarioChoices,
	"idemstorm scenarios show": scenarioChoices,
	"idemstorm zoo run":        variantChoices,
	"idemstorm zoo record":     variantChoices,
	"idemstorm zoo explore":    explorableChoices,
}

// fileFlags are those whose value is a file or a folder, with the endings of the files, "" for a folder.
var fileFlags = map[string]string{"target": "yaml", "replay": "json", "out": "", "pg-bin": "", "dir": ""}

// complete teaches the shell what may follow in a command.
func complete(cmd *cobra.Command) {
	if choices, ok := argChoices[cmd.CommandPath()]; ok {
		directive := cobra.ShellCompDirectiveNoFileComp
		if cmd.Name() == "run" || cmd.Name() == "show" {
			directive = cobra.ShellCompDirectiveDefault // a scenario may be a file
		}
		cmd.ValidArgsFunction = offer(choices, directive)
	}
	for name, choices := range flagChoices {
		register(cmd, name, offer(choices, cobra.ShellCompDirectiveNoFileComp))
	}
	for name, ending := range fileFlags {
		if ending == "" {
			register(cmd, name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
			continue
		}
		register(cmd, name, cobra.FixedCompletions([]cobra.Completion{ending}, cobra.ShellCompDirectiveFilterFileExt))
	}
}

func register(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if cmd.Flags().Lookup(flag) == nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag exists, and each command is completed once
	}
}

// offer leaves out what is on the line already.
func offer(choices func() []choice, directive cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		for _, c := range choices() {
			if strings.HasPrefix(c.name, begun) && !slices.Contains(args, c.name) {
				out = append(out, cobra.CompletionWithDesc(c.name, c.about))
			}
		}
		return out, directive
	}
}

func plainChoices(names []string) (out []choice) {
	for _, name := range names {
		out = append(out, choice{name: name})
	}
	return out
}

// scenarioChoices is empty where the built-in files are broken, which the tests of scenarios refuse.
func scenarioChoices() (out []choice) {
	all, _ := scenarios.All()
	for _, s := range all {
		out = append(out, choice{s.Name, s.Summary})
	}
	return out
}

func suiteChoices() (out []choice) {
	all, _ := scenarios.All()
	count := map[string]int{}
	for _, s := range all {
		for _, suite := range s.Suites {
			if count[suite]++; count[suite] == 1 {
				out = append(out, choice{name: suite})
			}
		}
	}
	slices.SortFunc(out, func(a, b choice) int { return strings.Compare(a.name, b.name) })
	return out
}

func variantChoices() (out []choice) {
	for _, v := range zoo.All {
		out = append(out, choice{v.Name, "breaks " + v.Invariant})
	}
	return out
}

func explorableChoices() (out []choice) {
	for _, v := range zoo.All {
		if v.Explore != nil {
			out = append(out, choice{v.Name, "breaks " + v.Convicts()})
		}
	}
	return out
}

func strategyChoices() []choice { return plainChoices(contract.StrategyNames()) }

func caseChoices() (out []choice) {
	for _, c := range lab.Cases {
		out = append(out, choice{name: c.Name})
	}
	return out
}
