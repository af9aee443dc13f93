package claimtest

import "time"

// SetPatience shortens the bound on what does not come about, for strategies of which that is expected.
func SetPatience(d time.Duration) { patience = d }
