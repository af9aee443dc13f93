package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"idemstorm": main})
}

// Each script is one promise of the command line, with its exit codes. They start real servers on a real PostgreSQL.
func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// The throwaway PostgreSQL runs as another user, which cannot enter a test's private folders.
			e.Setenv("TMPDIR", os.TempDir())
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("NO_COLOR", "1")
			e.Setenv("COLUMNS", "100")
			service, err := filepath.Abs("testdata/node")
			if err != nil {
				return err
			}
			e.Setenv("SERVICE", service)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "fits": fits, "fits-run": fitsRun, "postgres": postgres, "await": awaitFile, "fetch": fetch, "dashboard": dashboard},
	})
}
