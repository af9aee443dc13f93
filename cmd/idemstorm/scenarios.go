package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
	"github.com/idemstorm/idemstorm/scenarios"
)

func newScenariosCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "List the built-in scenarios, and show what each does and would catch",
		Long: `A scenario is a YAML file: the servers, the traffic, the faults, and which invariants it claims to judge. Those that are built in
can be run by their names, and taken as a start for your own.`,
		Example: `  idemstorm scenarios list
  idemstorm scenarios show store-outage`,
	}
	cmd.AddCommand(newScenariosListCommand(), newScenariosShowCommand())
	return cmd
}

func newScenariosListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the built-in scenarios",
		Long:    "List prints the name of each built-in scenario, the suites that it belongs to, and what it does.",
		Example: "  idemstorm scenarios list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := scenarios.All()
			if err != nil {
				return err
			}
			targets, err := scenarios.ForTargets()
			if err != nil {
				return err
			}
			return listScenarios(cmd.OutOrStdout(), append(all, targets...))
		},
	}
}

func listScenarios(w io.Writer, all []scenarios.Scenario) error {
	var entries []reports.Listed
	for _, s := range all {
		entries = append(entries, reports.Listed{Cells: []string{s.Name, strings.Join(s.Suites, ",")}, Text: s.Summary})
	}
	return reports.WriteListing(w, terminal(), entries)
}

func newScenariosShowCommand() *cobra.Command {
	var asYAML bool
	cmd := &cobra.Command{
		Use:   "show SCENARIO",
		Short: "Show what a scenario does and would catch",
		Long: `Show explains a scenario, a built-in one or a file: what it does, which faults it would find, its servers, phases and faults, and what
it judges. With --yaml it prints the whole file.`,
		Example: "  idemstorm scenarios show store-outage\n  idemstorm scenarios show store-outage --yaml > mine.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := scenarios.Find(args[0])
			if target, of := scenarios.FindForTarget(args[0]); of == nil {
				s, err = target, nil
			}
			if err != nil {
				return exitWith(verdict.ExitUsage, err)
			}
			if asYAML {
				return yaml.NewEncoder(cmd.OutOrStdout()).Encode(s)
			}
			return showScenario(cmd.OutOrStdout(), s)
		},
	}
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "print the whole scenario as a file to start from")
	return cmd
}

func showScenario(w io.Writer, s scenarios.Scenario) error {
	entries := []reports.Listed{line(s.Name, "%s", s.Summary), line("catches", "%s", strings.TrimSpace(s.Catches)), line("suites", "%s", strings.Join(s.Suites, ", "))}
	entries = append(entries, line("servers", "%d replica(s), stale after %v, deadline %v", s.Subject.Replicas, s.Subject.StaleAfter, s.Subject.Deadline))
	for _, p := range s.Workload.Phases {
		entries = append(entries, line("phase", "%s: %s, %s loop, %d clients", p.Name, p.Shape, p.Loop, p.Clients))
	}
	for _, f := range s.Faults {
		entries = append(entries, line("fault", "%s on %s at %v for %v", f.Kind, f.On, f.At, f.For))
	}
	return reports.WriteListing(w, terminal(), append(entries, line("judges", "%s", strings.Join(s.Invariants, ", "))))
}

func line(name, format string, values ...any) reports.Listed {
	return reports.Listed{Cells: []string{name}, Text: fmt.Sprintf(format, values...)}
}
