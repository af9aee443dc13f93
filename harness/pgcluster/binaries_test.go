package pgcluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestAGivenFolderMustHoldTheBinaries(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "17", "bin")
	fakeBinaries(t, whole, "postgres", "initdb")
	half := filepath.Join(t.TempDir(), "bin")
	fakeBinaries(t, half, "postgres")
	if got, err := FindBinaries(whole); err != nil || got != whole {
		t.Errorf("got %s, %v", got, err)
	}
	_, err := FindBinaries(half)
	if !errors.Is(err, ErrNoBinaries) || !strings.Contains(err.Error(), half) {
		t.Errorf("half an installation: %v", err)
	}
}

func TestPATHIsSearchedFirstAndLinksAreFollowed(t *testing.T) {
	real, links := filepath.Join(t.TempDir(), "bin"), t.TempDir()
	fakeBinaries(t, real, "postgres", "initdb")
	check(t, os.Symlink(filepath.Join(real, "postgres"), filepath.Join(links, "postgres")))
	t.Setenv("PATH", links)
	if got, err := FindBinaries(""); err != nil || got != real {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestPgConfigIsAsked(t *testing.T) {
	bin, tools := filepath.Join(t.TempDir(), "bin"), t.TempDir()
	fakeBinaries(t, bin, "postgres", "initdb")
	script := "#!/bin/sh\necho " + bin + "\n"
	check(t, os.WriteFile(filepath.Join(tools, "pg_config"), []byte(script), 0o755))
	t.Setenv("PATH", tools)
	if got, err := search(nil); err != nil || got != bin {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestTheNewestInstalledVersionIsTaken(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, layout := range []string{"postgresql/%/bin", "pgsql-%/bin", "opt/postgresql@%/bin"} {
		base := t.TempDir()
		for _, version := range []string{"9.6", "15", "9.5", "100", "17"} {
			fakeBinaries(t, filepath.Join(base, strings.Replace(layout, "%", version, 1)), "postgres", "initdb")
		}
		fakeBinaries(t, filepath.Join(base, strings.Replace(layout, "%", "200", 1)), "initdb") // a client package
		want := filepath.Join(base, strings.Replace(layout, "%", "100", 1))
		if got, err := search([]string{filepath.Join(base, strings.Replace(layout, "%", "*", 1))}); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestTheErrorListsWhereItLooked(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := search([]string{"/nowhere/*/bin", "/nothing/bin"})
	if !errors.Is(err, ErrNoBinaries) {
		t.Fatal(err)
	}
	for _, place := range []string{"PATH", "pg_config", "/nowhere/*/bin", "/nothing/bin"} {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("%v does not name %s", err, place)
		}
	}
}

func fakeBinaries(t *testing.T, dir string, programs ...string) {
	t.Helper()
	check(t, os.MkdirAll(dir, 0o755))
	for _, program := range programs {
		check(t, os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"), 0o755))
	}
}

// The way out that the error names must be there, with the two replicas it promises.
func TestTheComposeFileIsWhole(t *testing.T) {
	content, err := os.ReadFile("../../docker-compose.yml")
	check(t, err)
	var file struct {
		Services map[string]any `yaml:"services"`
	}
	check(t, yaml.Unmarshal(content, &file))
	for _, service := range []string{"postgres", "server-1", "server-2"} {
		if file.Services[service] == nil {
			t.Errorf("docker-compose.yml has no service %s", service)
		}
	}
}
