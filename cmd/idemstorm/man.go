package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/idemstorm/idemstorm/harness"
)

// newManCommand is hidden: it is for those who package the program, and `make man`.
func newManCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "man", Short: "Write the manual pages", Args: cobra.NoArgs, Hidden: true,
		Long: `Man writes a manual page for each command, in the format of man(1). Their date is that of SOURCE_DATE_EPOCH where that is set,
so that two builds give the same pages.`,
		Example: `  idemstorm man --dir man && man ./man/idemstorm-run.1`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make the folder for the manual pages: %w", err)
			}
			header := &doc.GenManHeader{Section: "1", Source: "idemstorm " + harness.Version(), Manual: "Idemstorm"}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root, header, dir); err != nil {
				return fmt.Errorf("write the manual pages: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "man", "folder for the pages, created if missing")
	return cmd
}
