package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// repository is the root of the working tree, as seen from this package.
const repository = "../.."

// markdown are all Markdown files of the repository, by their path from its root.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "runs", "bin", "testdata", "node_modules"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, repository+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	fenced  = regexp.MustCompile("(?s)```.*?```")
)

// A link that leads nowhere costs a reader more than no link.
func TestEveryRelativeLinkInTheDocumentsLeadsSomewhere(t *testing.T) {
	files := markdown(t)
	for name, text := range files {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path := name
			if target != "" {
				path = filepath.Join(filepath.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(repository, path)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if anchor != "" && filepath.Ext(path) == ".md" && !slices.Contains(anchors(files[path]), anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", name, m[1], path)
			}
		}
	}
}

// anchors are the headings of a document as its links name them.
func anchors(text string) (out []string) {
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		keep := func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
				return r
			}
			return -1
		}
		out = append(out, strings.Map(keep, strings.ToLower(m[1])))
	}
	return out
}

// A command that a document shows and the program does not know is worse than none.
func TestEveryCommandLineInTheDocumentsParses(t *testing.T) {
	seen := 0
	for name, text := range markdown(t) {
		for line := range strings.Lines(text) {
			for _, words := range commandLines(line) {
				if strings.Contains(line, "{{") {
					continue // a template, whose product is among these files
				}
				seen++
				if err := parses(words); err != nil {
					t.Errorf("%s: %s: %v", name, strings.TrimSpace(line), err)
				}
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d command lines were found: the search for them is broken", seen)
	}
}

// invoked finds what follows the program's name on a line of a code block, or in a code span.
var (
	invoked  = regexp.MustCompile("(?:^ *(?:\\$ )?|`|&& |\\| [^|]*\\| )(?:bin/)?idemstorm( [^`]*)?")
	separate = regexp.MustCompile(` (?:[#>|]|&&|\|\||2>) ?.*$| {2,}[^-].*$|;.*$`)
)

// commandLines are the calls of the program on a line, as words after its name. Prose that begins with the program's name is none: a call's first
// word is in lower case and names a command or is a flag.
func commandLines(line string) (out [][]string) {
	for _, m := range invoked.FindAllStringSubmatch(strings.TrimRight(line, "\n"), -1) {
		words := shellFields(separate.ReplaceAllString(m[1], ""))
		if len(words) > 0 && isCommand(words[0]) {
			out = append(out, words)
		}
	}
	return out
}

var commandForm = regexp.MustCompile(`^(--?)?[a-z][a-z-]*$`)

// isCommand leaves prose such as "idemstorm is …" alone.
func isCommand(word string) bool {
	prose := []string{"is", "can", "does", "runs", "in", "of", "or", "and", "reads", "tells", "on", "never", "finds", "must", "itself"}
	return commandForm.MatchString(word) && !slices.Contains(prose, word)
}

// shellFields splits at spaces outside of quotes, and takes the quotes away.
func shellFields(line string) (words []string) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// parses says what is wrong with a command line: a command, a flag or a number of arguments that there is not. Nothing is run.
func parses(words []string) error {
	root := newRootCommand()
	root.SetOut(new(bytes.Buffer))
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "…" || w == "DIR…" })
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
	}
	args := cmd.Flags().Args()
	if cmd.HasSubCommands() && len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	if cmd.Args == nil {
		return nil
	}
	return validArgs(cmd, args)
}

// validArgs forgives a document that names a command without what it takes.
func validArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cmd.Args(cmd, args)
}
