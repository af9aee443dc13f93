package idemtest_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Whoever imports the package is told what comes with it.
func TestADependencyOfUsersTestsIsOnThePageOfDependencies(t *testing.T) {
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(string(page), "idemtest is linked with")
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	for _, module := range slices.Compact(modules) {
		if module != "github.com/idemstorm/idemstorm" && !strings.Contains(listed, "\n"+module+"\n") {
			t.Errorf("docs/dependencies.md does not list %s among what idemtest brings", module)
		}
	}
}
