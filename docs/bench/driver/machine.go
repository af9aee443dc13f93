package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/stat.
const tick = 10 * time.Millisecond

// idleness is what a machine may do beside a measurement and still be idle: its host may take away 0.25 % of the processors' time, and other processes
// may use 5 %.
var idleness = struct{ stolen, others float64 }{0.0025, 0.05}

// machine is the time of all processors together since the system started.
type machine struct{ total, busy, stolen time.Duration }

// readMachine is zero where the system does not say.
func readMachine() (m machine) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machine{}
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || i > 8 { // guest time, which is in user time already
			continue
		}
		d := time.Duration(n) * tick
		m.total += d
		switch i {
		case 4, 5: // idle, waiting for a disk
		case 8:
			m.stolen += d
		default:
			m.busy += d
		}
	}
	return m
}

// disturbance is the shares of the processors' time that the host took away, and that processes used which are not part of the measurement.
type disturbance struct{ stolen, others float64 }

// since is the disturbance since an earlier moment, ours being the time that the measurement itself used.
func (m machine) since(before machine, ours time.Duration) disturbance {
	total := m.total - before.total
	if total <= 0 {
		return disturbance{}
	}
	return disturbance{
		stolen: float64(m.stolen-before.stolen) / float64(total),
		others: max(0, float64(m.busy-before.busy-ours)/float64(total)),
	}
}

// idle says whether the machine was otherwise idle.
func (d disturbance) idle() bool { return d.stolen <= idleness.stolen && d.others <= idleness.others }

// watched runs a generator, and says what disturbed it meanwhile.
func (s *stage) watched(ctx context.Context, g generator, l load) (figures, disturbance, error) {
	handler, err := s.handlerTime(ctx)
	if err != nil {
		return figures{}, disturbance{}, err
	}
	before, own := readMachine(), processorTime()
	f, err := g.run(ctx, s, l)
	if err != nil {
		return figures{}, disturbance{}, err
	}
	after, err := s.handlerTime(ctx)
	if err != nil {
		return figures{}, disturbance{}, err
	}
	f.handler = after - handler
	ours := f.handler + f.cpu + f.report + processorTime() - own
	return f, readMachine().since(before, ours), nil
}
