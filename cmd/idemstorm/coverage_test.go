package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// elsewhere are flags that no script uses and a Go test does, by command and flag.
var elsewhere = map[string]string{
	"idemstorm zoo run --all": "TestAllHoldsAVariantAgainstEveryScenario", // a script of it would take minutes
}

// scriptCall is one call of the program in a script.
type scriptCall struct {
	exit    string // that is expected; "" where the script does not say
	command string // its path
	flags   []string
}

var scriptLine = regexp.MustCompile(`^(?:exits (\d) |! exec |exec )idemstorm(?: (.*))?$`)

func scriptCalls(t *testing.T) (calls []scriptCall) {
	t.Helper()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if m := scriptLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				calls = append(calls, newScriptCall(m[1], shellFields(m[2])))
			}
		}
	}
	return calls
}

func newScriptCall(exit string, words []string) scriptCall {
	call := scriptCall{exit: exit}
	if cmd, _, err := newRootCommand().Find(words); err == nil {
		call.command = cmd.CommandPath()
	}
	for _, word := range words {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			call.flags = append(call.flags, name)
		}
	}
	return call
}

// A flag that no test uses is a promise that nobody checks.
func TestEveryCommandAndFlagIsUsedByAScript(t *testing.T) {
	calls := scriptCalls(t)
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		called := func(flag string) bool {
			return slices.ContainsFunc(calls, func(c scriptCall) bool {
				return c.command == cmd.CommandPath() && (flag == "" || slices.Contains(c.flags, flag))
			})
		}
		if !called("") && elsewhere[cmd.CommandPath()] == "" {
			t.Error("no script calls it")
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			shared := f.Name == "help" || f.Name == "no-descriptions" // cobra's own, the same everywhere
			if !shared && !called(f.Name) && elsewhere[cmd.CommandPath()+" --"+f.Name] == "" {
				t.Errorf("no script uses --%s", f.Name)
			}
		})
	})
}

func TestEveryExitCodeIsMetByAScript(t *testing.T) {
	calls := scriptCalls(t)
	for command, codes := range map[string][]string{
		"idemstorm run": {"0", "1", "2", "3", "4", "5"}, "idemstorm explore": {"0", "1", "2", "3", "5"}, "idemstorm check": {"0", "1", "2", "5"},
		"idemstorm zoo run": {"0", "2", "3"}, "idemstorm zoo explore": {"0", "2", "3"}, "idemstorm soak": {"0", "2"},
	} {
		for _, code := range codes {
			if !slices.ContainsFunc(calls, func(c scriptCall) bool { return c.command == command && c.exit == code }) {
				t.Errorf("no script has %s end with %s", command, code)
			}
		}
	}
}

func TestWhatGoTestsCoverThereIsATestOf(t *testing.T) {
	for what, name := range elsewhere {
		files, err := filepath.Glob("*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(files, func(file string) bool {
			text, _ := os.ReadFile(file)
			return strings.Contains(string(text), "func "+name+"(t *testing.T)")
		})
		if !found {
			t.Errorf("%s is to be covered by %s, and there is no such test", what, name)
		}
	}
}

func TestAllHoldsAVariantAgainstEveryScenario(t *testing.T) {
	trials, err := zooFlags{all: true, runs: 2, seed: 1}.trials([]string{"no-fence", "no-deadline"})
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 2 * len(builtIn(t)); len(trials) != want {
		t.Errorf("%d trials, want %d", len(trials), want)
	}
}
