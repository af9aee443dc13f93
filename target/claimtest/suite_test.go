package claimtest_test

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/target/claimtest"
	"github.com/idemstorm/idemstorm/target/idempotency"
)

// brokenVariable names a broken strategy, to be held to the rules in place of the right ones.
const brokenVariable = "CLAIMTEST_BROKEN"

func TestEveryStrategyKeepsTheContractOfAClaim(t *testing.T) {
	on := claimtest.Stores{DSN: dsn}
	if name := os.Getenv(brokenVariable); name != "" {
		claimtest.SetPatience(5 * time.Second)
		claimtest.Run(t, brokenStrategy(t, name), on)
		return
	}
	on.Redis = claimtest.Redis(t)
	for _, s := range idempotency.Strategies {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			claimtest.Run(t, s, on)
		})
	}
}

// brokenStrategy claims to be the reference.
func brokenStrategy(t *testing.T, name string) idempotency.Strategy {
	s := idempotency.Strategies[0]
	for _, b := range broken {
		if b.name == name {
			s.New = b.make
			return s
		}
	}
	t.Fatalf("no broken strategy %q", name)
	return s
}

var failedRule = regexp.MustCompile(`(?m)^    --- FAIL: TestEveryStrategyKeepsTheContractOfAClaim/(\S+)`)

// The suite is worth what it catches. Each broken strategy is tried in a process of its own, since its test is to fail.
func TestEveryBrokenStrategyIsConvictedByTheRuleThatItBreaks(t *testing.T) {
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			rule := strings.ReplaceAll(b.breaks, " ", "_")
			cmd := exec.CommandContext(t.Context(), os.Args[0],
				"-test.run=^TestEveryStrategyKeepsTheContractOfAClaim$/"+regexp.QuoteMeta(rule), "-test.v", "-test.count=1")
			cmd.Env = append(os.Environ(), dsnVariable+"="+dsn, brokenVariable+"="+b.name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("the suite passed it: %v\n%s", err, out)
			}
			failed := failedRule.FindAllSubmatch(out, -1)
			if !slices.ContainsFunc(failed, func(m [][]byte) bool { return strings.HasPrefix(string(m[1]), rule) }) {
				t.Errorf("failed %q, want %q\n%s", failed, b.breaks, out)
			}
		})
	}
}
