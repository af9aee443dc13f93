package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/verdict"
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
			return listScenarios(cmd.OutOrStdout(), all)
		},
	}
}

func listScenarios(w io.Writer, all []scenarios.Scenario) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Name, strings.Join(s.Suites, ","), s.Summary)
	}
	return table.Flush()
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
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\t%s\n", s.Name, s.Summary)
	fmt.Fprintf(table, "catches\t%s\n", strings.TrimSpace(s.Catches))
	fmt.Fprintf(table, "suites\t%s\n", strings.Join(s.Suites, ", "))
	fmt.Fprintf(table, "servers\t%d replica(s), stale after %v, deadline %v\n", s.Subject.Replicas, s.Subject.StaleAfter, s.Subject.Deadline)
	for _, p := range s.Workload.Phases {
		fmt.Fprintf(table, "phase\t%s: %s, %s loop, %d clients\n", p.Name, p.Shape, p.Loop, p.Clients)
	}
	for _, f := range s.Faults {
		fmt.Fprintf(table, "fault\t%s on %s at %v for %v\n", f.Kind, f.On, f.At, f.For)
	}
	fmt.Fprintf(table, "judges\t%s\n", strings.Join(s.Invariants, ", "))
	return table.Flush()
}
