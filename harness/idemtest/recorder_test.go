package idemtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/idemstorm/idemstorm/harness/idemtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(ending{m})
}

// ending stops the server before leaks are looked for.
type ending struct{ m *testing.M }

func (e ending) Run() int {
	code := e.m.Run()
	if err := idemtest.Stop(); err != nil {
		fmt.Println(err)
		return 1
	}
	return code
}

// recorder is a test whose failure is what is looked at.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	failed bool
	fatal  bool
	said   strings.Builder
}

func (r *recorder) say(format string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.said, format+"\n", args...)
}

func (r *recorder) Helper()                         {}
func (r *recorder) Logf(format string, args ...any) { r.say(format, args) }

func (r *recorder) Errorf(format string, args ...any) {
	r.say(format, args)
	r.failed = true
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.say(format, args)
	r.failed, r.fatal = true, true
	runtime.Goexit()
}

// record runs a part of a test by itself, and gives what it said.
func record(t *testing.T, part func(testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		part(r)
	}()
	<-done
	return r
}

func (r *recorder) mustSay(t *testing.T, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(r.said.String(), word) {
			t.Errorf("it does not say %q:\n%s", word, r.said.String())
		}
	}
}
