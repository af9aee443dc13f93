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
