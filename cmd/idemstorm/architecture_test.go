package main

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/idemstorm/idemstorm/"

// allowed lists, for each folder, the folders of this module that it may import. Imports point down the walk only; a folder that is
// not listed may import nothing of the module.
var allowed = map[string][]string{
	"cmd/idemstorm":            {"reports", "harness", "scenarios", "target", "migrations"},
	"reports":                  {"harness/bench", "harness/verdict", "harness/history", "harness/latency", "harness/schedule", "harness/wholefile"},
	"harness":                  {"harness/check", "harness/contract", "harness/drive", "harness/evidence", "harness/fault", "harness/history", "harness/latency", "harness/pgcluster", "harness/pgwire", "harness/plan", "harness/provider", "harness/subject", "harness/verdict", "harness/wholefile", "scenarios"},
	"scenarios":                {"harness/check", "harness/contract", "harness/fault", "harness/pgcluster", "harness/plan", "harness/specfile", "harness/subject"},
	"harness/bench":            {"harness/contract", "harness/latency", "harness/verdict", "harness/wholefile"},
	"harness/bench/claim":      {"harness/bench", "harness/contract", "harness/drive", "harness/evidence", "harness/history", "harness/latency", "harness/pgcluster", "harness/pgwire", "harness/plan", "harness/subject", "harness/verdict"},
	"harness/check":            {"harness/contract", "harness/evidence", "harness/history", "harness/latency", "harness/pile", "harness/verdict"},
	"harness/evidence":         {"harness/history", "harness/pile", "harness/plaintext", "harness/wholefile"},
	"harness/fault":            {"harness/history", "harness/pgcluster", "harness/pgwire", "harness/subject"},
	"harness/drive":            {"harness/contract", "harness/history", "harness/latency", "harness/plan"},
	"harness/history":          {"harness/plaintext"},
	"harness/plan":             {"harness/contract", "harness/history"},
	"harness/pgcluster":        {"harness/loopback"},
	"harness/subject":          {"harness/contract", "harness/loopback", "harness/specfile"},
	"harness/verdict":          {"harness/history", "harness/latency", "harness/wholefile"},
	"target/orderserver":       {"migrations", "target/idempotency"},
	"target/zoo":               {"target/idempotency", "target/orderserver"},
	"target/claimtest":         {"target/idempotency"},
	"harness/idemtest":         {"harness", "harness/evidence", "harness/explore", "harness/explore/lab", "harness/loopback", "harness/pgcluster", "harness/plan", "harness/schedule", "harness/subject", "harness/verdict", "reports", "scenarios"},
	"harness/explore":          {"harness/check", "harness/contract", "harness/drive", "harness/evidence", "harness/history", "harness/pgwire", "harness/plan", "harness/schedule", "harness/verdict"},
	"harness/explore/lab":      {"harness/explore", "harness/check", "harness/contract", "harness/evidence", "harness/history", "harness/pgcluster", "harness/pgwire", "harness/provider", "harness/schedule", "harness/subject", "harness/verdict"},
	"harness/schedule":         {"harness/verdict", "harness/wholefile"},
	"target/idempotency":       nil,
	"target/orderserver/paper": nil,
}

// The module's stages are useful apart from one another only while imports keep pointing one way.
func TestImportsPointDownTheWalk(t *testing.T) {
	for _, p := range listPackages(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if ours && !mayImport(from, to) {
				t.Errorf("%s imports %s, which stands beside or above it in the walk", from, to)
			}
		}
	}
}

// A shared helper between harness and target would hide one mistake on both sides. Tests of the target may start a database.
func TestHarnessAndTargetShareNothing(t *testing.T) {
	for _, p := range listPackages(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			to, ours := strings.CutPrefix(imported, module)
			switch {
			case !ours:
			case strings.HasPrefix(from, "harness") && strings.HasPrefix(to, "target"),
				strings.HasPrefix(from, "target") && strings.HasPrefix(to, "harness") && to != "harness/pgcluster":
				t.Errorf("%s imports %s", from, to)
			}
		}
	}
}

func mayImport(from, to string) bool {
	if slices.Contains(allowed[from], to) {
		return true
	}
	if from == "cmd/idemstorm" || strings.HasPrefix(from, "docs/bench/") {
		top, _, _ := strings.Cut(to, "/")
		return slices.Contains(allowed["cmd/idemstorm"], top)
	}
	parent := to[:max(0, strings.LastIndex(to, "/"))]
	return parent == from || strings.Contains(to, "/internal/")
}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatalf("read what go list printed: %v", err)
		}
		all = append(all, p)
	}
}
