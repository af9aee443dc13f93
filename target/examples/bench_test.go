package examples_test

import (
	"bufio"
	"bytes"
	"context"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// bench is where the document's commands are run: copies of the services, built, beside an idemstorm and a Redis.
type bench struct {
	root      string // has target/examples, as the repository has
	idemstorm string
	redis     string // host:port
}

var (
	building sync.Mutex
	built    bench
	folder   string // of all tests together; TestMain removes it
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "idemstorm-examples"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		return m.Run()
	}())
}

// build makes what is built once for all tests. The Redis is of the test that asked, and ends with it.
func build(t *testing.T) bench {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	if built.root == "" {
		b := bench{root: folder, idemstorm: filepath.Join(folder, "idemstorm")}
		b.command(t, "../..", "go", "build", "-o", b.idemstorm, "./cmd/idemstorm")
		b.copies(t)
		services := filepath.Join(b.root, "target/examples")
		b.command(t, filepath.Join(services, "fiber-idempotency"), "go", "build", "-o", "orders", ".")
		for _, name := range []string{"express-idempotency", "node-idempotency"} {
			b.command(t, filepath.Join(services, name), "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		}
		built = b
	}
	b := built
	b.redis = startRedis(t)
	return b
}

// copies leaves the repository as it is: what is built and installed lies elsewhere.
func (b bench) copies(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		to := filepath.Join(b.root, "target/examples", path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case !slices.Contains([]string{".go", ".mod", ".sum", ".js", ".json", ".sql", ".yaml"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// command runs a program that must succeed.
func (b bench) command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s in %s: %v\n%s", name, strings.Join(args, " "), dir, err, out)
	}
	return string(out)
}

// startRedis starts a redis-server without persistence, with a database for each line of the table, and gives its address. Between the choice of
// a port and its use another process may take it; then another is chosen.
func startRedis(t *testing.T) string {
	t.Helper()
	for range 5 {
		addr := freeAddr(t)
		if answers(addr, launchRedis(t, addr)) {
			return addr
		}
	}
	t.Fatal("redis-server does not start, on any of five ports; its output follows")
	return ""
}

// launchRedis gives a channel that is closed when the process has ended, which it has at the end of the test.
func launchRedis(t *testing.T, addr string) (ended chan struct{}) {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--databases", "64", "--dir", folder)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; make test installs what is missing (Debian: apt-get install redis-server)", err)
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed in the end
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails only if it has ended
		<-ended
		if t.Failed() {
			t.Log(out.String())
		}
	})
	return ended
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// answers waits until a Redis at the address says PONG, or its process has ended.
func answers(addr string, ended <-chan struct{}) bool {
	giveUp := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if pongs(addr) {
			return true
		}
		select {
		case <-tick.C:
		case <-ended:
			return false
		case <-giveUp:
			return false
		}
	}
}

func pongs(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // fails only on a connection that is gone
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.HasPrefix(line, "+PONG")
}
