package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

func newTargetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "target",
		Short: "Write and try out the file that describes a server of yours",
		Long: `Target helps with the file by which run and explore know a server that they did not bring along (docs/target-file.md): init begins one,
check tries it out by one harmless request.`,
		Example: `  idemstorm target init --openapi api.yaml --operation placeOrder --out my-service.yaml
  idemstorm target check my-service.yaml`,
	}
	cmd.AddCommand(newTargetCheckCommand(), newTargetInitCommand())
	return cmd
}

// targetCheckFlags are what `target check` takes.
type targetCheckFlags struct {
	targetFlags
	pgBin string
}

func newTargetCheckCommand() *cobra.Command {
	var f targetCheckFlags
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Send one harmless request, read its evidence back, and say what works",
		Long: `Check reads a target file (docs/target-file.md), starts the server or reaches the one that runs, sends one request under a fresh key and then
the same again, reads the evidence back, and says line by line what works, what does not, and what will not be judged.

Exit codes: 0 it works · 2 the file is wrong or does not fit the service · 3 the service or its database could not be reached or started ·
5 something does not work, and a storm would say nothing.`,
		Example: `  idemstorm target check my-service.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.file = args[0]
			return checkTarget(cmd.Context(), cmd.OutOrStdout(), f)
		},
	}
	f.addOwnership(cmd)
	cmd.Flags().StringVar(&f.pgBin, "pg-bin", "", "folder of PostgreSQL's server programs (default: they are looked for)")
	return cmd
}

func checkTarget(ctx context.Context, w io.Writer, f targetCheckFlags) (err error) {
	if err := f.load(); err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	fmt.Fprintf(w, "✓ %s: every field is understood\n", f.file)
	lab, err := runFlags{foreign: f.targetFlags, pgBin: f.pgBin}.openLab(ctx)
	if err != nil {
		return unreachable(err)
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	dir, err := os.MkdirTemp("", "idemstorm-target-")
	if err != nil {
		return fmt.Errorf("make a folder for the server's log: %w", err)
	}
	failed := false
	err = harness.CheckTarget(ctx, lab, *f.target, dir, func(r harness.Remark) {
		failed = failed || r.Kind == harness.Fails
		fmt.Fprintln(w, map[harness.RemarkKind]string{harness.Works: "✓", harness.Fails: "✗", harness.Unjudged: "–"}[r.Kind], r.Text)
	})
	return concludeCheck(w, dir, failed, err)
}

// saidNothing is true of a folder without logs, or with empty ones alone.
func saidNothing(dir string) bool {
	logs, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(logs, func(e fs.DirEntry) bool {
		info, err := e.Info()
		return err != nil || info.Size() > 0
	})
}

// concludeCheck keeps the server's log where something failed.
func concludeCheck(w io.Writer, dir string, failed bool, err error) error {
	switch {
	case err != nil && saidNothing(dir):
		return errors.Join(unreachable(err), os.RemoveAll(dir))
	case err != nil:
		return unreachable(fmt.Errorf("%w (logs: %s)", err, dir))
	case failed:
		fmt.Fprintf(w, "The target file does not fit the service yet. Its log is in %s.\n", dir)
		return exitWith(verdict.ExitInconclusive, errShown)
	}
	fmt.Fprintln(w, "It works. Next: idemstorm run --target, and idemstorm explore --target where idemstorm starts the service.")
	return os.RemoveAll(dir)
}
