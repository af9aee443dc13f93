package scenarios

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

const kindFailover = "failover"

// Loss is the weakened durability that the scenario states: what was acknowledged shortly before one of its faults struck may be gone. It is
// zero where every acknowledged commit must survive.
func (s Scenario) Loss() check.Loss {
	for i, f := range s.Faults {
		if window, ok := f.LossWindow(pgcluster.Replication(s.Subject.Standby)); ok {
			return check.Loss{Fault: i + 1, Kind: f.Kind, Window: window}
		}
	}
	return check.Loss{}
}

// validateDurability refuses faults whose losses could not be told apart, and a failover to nowhere or from a server that is gone.
func (s Scenario) validateDurability() error {
	losing := -1
	for i, f := range s.Faults {
		if f.Kind == kindFailover && s.Subject.Standby == "" {
			return fmt.Errorf("faults[%d].kind: a failover needs a standby; set subject.standby to asynchronous or synchronous", i)
		}
		if err := s.validateAfter(i); err != nil {
			return err
		}
		if _, ok := f.LossWindow(pgcluster.Replication(s.Subject.Standby)); !ok {
			continue
		}
		if losing >= 0 {
			return fmt.Errorf("faults[%d]: it may lose acknowledged commits, and so may faults[%d]; a scenario may have one such fault", i, losing)
		}
		losing = i
	}
	return nil
}

// validateAfter refuses what would strike the old primary after a failover: the end of the first is the beginning of another server.
func (s Scenario) validateAfter(i int) error {
	f := s.Faults[i]
	for j, earlier := range s.Faults {
		if j == i || earlier.Kind != kindFailover || f.At < earlier.At {
			continue
		}
		if fault.NeedsPostgres([]fault.Spec{f}) {
			return fmt.Errorf("faults[%d].at: it strikes the database server that faults[%d], a failover, has replaced for good", i, j)
		}
	}
	return nil
}
