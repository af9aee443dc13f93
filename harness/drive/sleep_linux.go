package drive

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepThread puts this thread to sleep, without the runtime's timers. Waking early, by a signal, does no harm: the caller looks at the clock.
func sleepThread(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

// sleepExactly asks the kernel to wake this thread when it asked to, and not up to fifty microseconds later together with others; false asks for what
// is usual. Where the kernel refuses, the lateness shows it.
func sleepExactly(yes bool) {
	slack := uintptr(0) // the thread's default
	if yes {
		slack = 1 // nanosecond
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0)
}
