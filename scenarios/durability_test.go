package scenarios

import (
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/fault"
)

// withFaults is the good scenario with a standby and other faults, as lines of YAML.
func withFaults(standby string, lines ...string) string {
	text := strings.Replace(good, "  - {kind: path-refuse, at: 1s, for: 1s, on: store}\n", "", 1)
	for _, line := range lines {
		text += "  - " + line + "\n"
	}
	if standby != "" {
		text += "subject: {standby: " + standby + "}\n"
	}
	return text
}

func TestAFailoverThatMakesNoSenseIsRefused(t *testing.T) {
	const (
		first  = "{kind: failover, at: 1s, for: 1s}"
		second = "{kind: failover, at: 3s, for: 1s}"
		crash  = "{kind: postgres-crash-unsynced, at: 1s, for: 1s, lag: 100ms}"
		later  = "{kind: postgres-crash-unsynced, at: 3s, for: 1s, lag: 100ms}"
	)
	for _, c := range []struct{ name, text, want string }{
		{"no standby", withFaults("", first), "faults[0].kind: a failover needs a standby"},
		{"a standby of no known kind", withFaults("sync", first), "subject.standby"},
		{"twice", withFaults("synchronous", first, second), "faults[1].at: it strikes the database server that faults[0]"},
		{"a crash of the server that is gone", withFaults("synchronous", first, later), "faults[1].at: "},
		{"two that may lose", withFaults("", crash, later), "faults[1]: it may lose acknowledged commits, and so may faults[0]"},
		{"two that may lose, a failover among them", withFaults("asynchronous", crash, second), "faults[1]: it may lose"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse("mine.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := Parse("mine.yaml", []byte(withFaults("synchronous", crash, second))); err != nil {
		t.Errorf("a crash before a synchronous failover is refused: %v", err)
	}
}

func TestAScenarioStatesItsLossByStandbyAndFault(t *testing.T) {
	for name, want := range map[string]check.Loss{
		"failover-async": {Fault: 2, Kind: "failover", Window: 500*time.Millisecond + fault.LossMargin},
		"failover-sync":  {},
		"crash-unsynced": {Fault: 2, Kind: "postgres-crash-unsynced", Window: 500*time.Millisecond + fault.LossMargin},
		"store-outage":   {},
	} {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Loss(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
