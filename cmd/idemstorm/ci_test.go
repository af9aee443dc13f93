package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// ciPage is docs/ci.md, whose commands are run as they stand there.
type ciPage struct{ blocks map[string]string }

var fence = regexp.MustCompile("(?ms)^```[a-z]+\n# (\\S+)\n(.*?)^```$")

func readCIPage(t *testing.T) ciPage {
	t.Helper()
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	p := ciPage{map[string]string{}}
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		p.blocks[m[1]] = m[2]
	}
	return p
}

func (p ciPage) decode(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.UnmarshalWithOptions([]byte(p.blocks[file]), into, yaml.Strict()); err != nil || p.blocks[file] == "" {
		t.Fatalf("%s: %v", file, err)
	}
}

// workflow is what a workflow of GitHub may hold, as far as the page uses it; a key that is misspelt is refused.
type workflow struct {
	Name        string            `yaml:"name"`
	On          []string          `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		RunsOn   string                    `yaml:"runs-on"`
		Timeout  int                       `yaml:"timeout-minutes"`
		Services map[string]map[string]any `yaml:"services"`
		Env      map[string]string         `yaml:"env"`
		Steps    []struct {
			Name string            `yaml:"name"`
			Uses string            `yaml:"uses"`
			With map[string]string `yaml:"with"`
			If   string            `yaml:"if"`
			Run  string            `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// pipeline is what the page uses of GitLab's.
type pipeline map[string]struct {
	Image        string              `yaml:"image"`
	Services     []map[string]string `yaml:"services"`
	Variables    map[string]string   `yaml:"variables"`
	BeforeScript []string            `yaml:"before_script"`
	Script       []string            `yaml:"script"`
	AllowFailure struct {
		ExitCodes []int `yaml:"exit_codes"`
	} `yaml:"allow_failure"`
	Artifacts struct {
		When    string            `yaml:"when"`
		Paths   []string          `yaml:"paths"`
		Reports map[string]string `yaml:"reports"`
	} `yaml:"artifacts"`
}

// runner is a clean folder with a service in it, where a job's commands are run.
type runner struct {
	dir, summary string
	env          []string
}

// newRunner has this project's program on its path, and nothing else of the project.
func newRunner(t *testing.T, env ...string) runner {
	t.Helper()
	r := runner{dir: t.TempDir()}
	r.summary = filepath.Join(r.dir, "step-summary.md")
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "idemstorm"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.env = append(append(os.Environ(), env...), "PATH="+bin+":"+os.Getenv("PATH"), "GITHUB_STEP_SUMMARY="+r.summary, "TMPDIR="+os.TempDir())
	return r
}

// withOrders puts the Node service under test into the folder; broken is the one with the race.
func (r runner) withOrders(t *testing.T, broken bool) runner {
	t.Helper()
	target := "mended.yaml"
	if broken {
		target = "orders.yaml"
	}
	for to, from := range map[string]string{"server.js": "server.js", "pg.js": "pg.js", "orders.yaml": target} {
		r.put(t, to, filepath.Join("testdata", "node", from))
	}
	return r
}

func (r runner) put(t *testing.T, to, from string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(r.dir, to), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command as both services do, and gives its exit code.
func (r runner) run(t *testing.T, command string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	t.Logf("%s\n%s", strings.Join(cmd.Args, " "), out)
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// has wants files that a job uploads or shows to be there.
func (r runner) has(t *testing.T, file string, words ...string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, file))
	if err != nil {
		t.Error(err)
	}
	for _, word := range words {
		if !strings.Contains(string(data), word) {
			t.Errorf("%s does not say %q:\n%s", file, word, data)
		}
	}
	if strings.HasSuffix(file, ".xml") {
		if err := xml.Unmarshal(data, new(struct{})); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// postgresOf stands for the service that a job brings along.
func postgresOf(t *testing.T) string {
	t.Helper()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster.DSN("postgres")
}

// steps runs a workflow's only job: what installs programs is left out, and a step that has no condition is skipped after a failure.
func (r runner) steps(t *testing.T, w workflow) (code int) {
	t.Helper()
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if step.Run == "" || strings.HasPrefix(step.Name, "Install") || code != 0 && step.If == "" {
				continue
			}
			if c := r.run(t, step.Run); code == 0 {
				code = c
			}
		}
	}
	return code
}

func TestTheDocumentedCIOfGitHub(t *testing.T) {
	var w workflow
	readCIPage(t).decode(t, ".github/workflows/idempotency.yml", &w)
	server := postgresOf(t)
	t.Run("a right service passes", func(t *testing.T) {
		r := newRunner(t, "POSTGRES_URL="+server).withOrders(t, false)
		if passed(t, r.steps(t, w)) {
			r.has(t, "idemstorm/explore/report.html")
		}
		r.has(t, "idemstorm/junit.xml", "race")
		r.has(t, "step-summary.md", "# Idemstorm", "held")
	})
	t.Run("a race fails, and is shown", func(t *testing.T) {
		r := newRunner(t, "POSTGRES_URL="+server).withOrders(t, true)
		if code := r.steps(t, w); code != verdict.ExitViolated {
			t.Errorf("exit code %d", code)
		}
		r.has(t, "idemstorm/junit.xml", "<failure", "at-most-once")
		r.has(t, "step-summary.md", "violated", "at-most-once")
	})
}

func TestTheDocumentedCIOfGitLab(t *testing.T) {
	var p pipeline
	readCIPage(t).decode(t, ".gitlab-ci.yml", &p)
	job := p["idempotency"]
	r := newRunner(t, "POSTGRES_URL="+postgresOf(t)).withOrders(t, false)
	for _, command := range job.Script {
		passed(t, r.run(t, command))
	}
	r.has(t, job.Artifacts.Reports["junit"])
	for _, path := range job.Artifacts.Paths {
		r.has(t, path+"index.html")
	}
}

func TestTheDocumentedContainer(t *testing.T) {
	text := readCIPage(t).blocks["Dockerfile.idempotency"]
	_, line, found := strings.Cut(text, "\nCMD ")
	var words []string
	if err := json.Unmarshal([]byte(line), &words); err != nil || !found {
		t.Fatalf("its command is no JSON array: %v in %q", err, line)
	}
	r := newRunner(t).withOrders(t, false)
	mounted := filepath.Join(r.dir, "results")
	words[len(words)-1] = strings.Replace(words[len(words)-1], "/results", mounted, 1)
	passed(t, r.run(t, strings.Join(words, " ")))
	r.has(t, "results/index.html")
}

// passed says whether a right service held. A machine that is busy with other tests may leave a run in doubt, as it says by its exit code; that
// the service is accused of nothing holds on any.
func passed(t *testing.T, code int) bool {
	t.Helper()
	if code != verdict.ExitHeld && code != verdict.ExitInconclusive {
		t.Errorf("exit code %d", code)
	}
	return code == verdict.ExitHeld
}

// What a user's module gets is one requirement.
const consumer = `module example.com/orders

go 1.26

require github.com/idemstorm/idemstorm v0.0.0

replace github.com/idemstorm/idemstorm => `

func TestTheDocumentedCIOfAGoService(t *testing.T) {
	var w workflow
	readCIPage(t).decode(t, ".github/workflows/test.yml", &w)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, "IDEMTEST_POSTGRES="+postgresOf(t), "GOFLAGS=-mod=mod", "GOWORK=off")
	r.put(t, "go.sum", filepath.Join(root, "go.sum"))
	for name, text := range map[string]string{"orders_test.go": serviceWithTest(t, root), "go.mod": consumer + root + "\n"} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code := r.steps(t, w); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.has(t, "step-summary.md", "# Idemstorm", "race", "held")
}

// serviceWithTest is idemtest's example, with its test under a name that go test finds.
func serviceWithTest(t *testing.T, root string) string {
	t.Helper()
	example, err := os.ReadFile(filepath.Join(root, "harness", "idemtest", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("package idemtest_test", "package orders_test", "ordersAreSafeToRetry", "TestOrdersAreSafeToRetry").Replace(string(example))
}
