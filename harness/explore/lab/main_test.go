package lab_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore/lab"
)

// binary is the program under test, built once: it serves, migrates, seeds, cleans up and erases.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "explore-lab-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "idemstorm")
	build := exec.Command("go", "build", "-o", binary, "github.com/idemstorm/idemstorm/cmd/idemstorm")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program under test:", err)
		return 1
	}
	return m.Run()
}

// patience is longer than a busy machine keeps a server from its next statement. The bundled server never sleeps between two.
const patience = 20 * time.Second

func open(t testing.TB, o lab.Options) *lab.Lab {
	t.Helper()
	o.Exe, o.Dir, o.Quiet = binary, t.TempDir(), patience
	l, err := lab.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}
