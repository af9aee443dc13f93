package scratch

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const helperVariable = "IDEMSTORM_SCRATCH_HELPER"

// TestMain makes this binary, when it is told to, a program that makes a folder, says where, and waits.
func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) == "" {
		os.Exit(m.Run())
	}
	f, err := New("idemstorm-test-")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(f.Path, "kept"), nil, 0o600); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(f.Path + "\n")
	select {}
}

func TestAFolderIsGoneAfterItsProgramWasKilled(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	folder := strings.TrimSpace(line)
	if _, err := os.Stat(filepath.Join(folder, "kept")); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) { // between two looks
		if _, err := os.Stat(folder); os.IsNotExist(err) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it is still there")
		}
	}
}

func TestAFolderIsRemovedWithWhatIsInIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := New("idemstorm-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(f.Path, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(f.Path); !os.IsNotExist(err) {
		t.Error("it is still there")
	}
}

func TestWhereNoFolderCanBeMadeAnErrorSaysSo(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if _, err := New("idemstorm-test-"); err == nil || !strings.Contains(err.Error(), "temporary folder") {
		t.Errorf("got %v", err)
	}
}

func TestAFolderThatIsKeptStays(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := New("idemstorm-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Path); err != nil {
		t.Error(err)
	}
}
