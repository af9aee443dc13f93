//go:build !linux

package drive

import "time"

// sleepThread uses the runtime's timers here; what they oversleep shows in the lateness.
func sleepThread(d time.Duration) { time.Sleep(d) }

func sleepExactly(bool) {}
