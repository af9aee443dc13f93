package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

// load is what a generator is asked to send. Every generator sends the same body and the same kind of header lines to the same handler.
type load struct {
	clients int           // workers, each with a connection; 0: as many as are needed
	rate    float64       // requests a second; 0 is a closed loop
	length  time.Duration // of a closed loop only about, for the driver
	expect  float64       // of a closed loop: requests a second that are expected
}

// figures are what one run came to.
type figures struct {
	requests int64
	seconds  float64
	cpu      time.Duration // of the generator's whole process, from its start to its end
	report   time.Duration // processor time of what made the figures of it afterwards, in other processes
	handler  time.Duration // processor time of the handler meanwhile
	late     []int64       // nanoseconds from when each request was due to when it was sent, where that is known
	times    times         // as the generator itself reports them
	response times         // from when a request was due; of the driver alone
	remark   string
}

func (f figures) perSecond() float64 { return float64(f.requests) / f.seconds }

// times are nanoseconds.
type times struct{ p50, p99, most int64 }

// timesOf sorts ns.
func timesOf(ns []int64) times {
	if len(ns) == 0 {
		return times{}
	}
	slices.Sort(ns)
	return times{p50: ns[(len(ns)-1)/2], p99: ns[(99*len(ns)-1)/100], most: ns[len(ns)-1]}
}

// generator sends load; a run leaves nothing behind.
type generator struct {
	name string
	run  func(context.Context, *stage, load) (figures, error)
}

// unbounded stands for as many clients as are ever needed, in the driver's plan.
const unbounded = 2000

// driverRun runs the driver in a process of its own, and then reads the history that it wrote, every request of which must be in it with its answer.
func driverRun(ctx context.Context, s *stage, l load) (figures, error) {
	path := filepath.Join(s.dir, "history.jsonl.gz")
	defer os.Remove(path)
	args := []string{"drive", "-target", s.url, "-history", path, "-clients", strconv.Itoa(l.clients)}
	if l.clients == 0 {
		args[len(args)-1] = strconv.Itoa(unbounded)
	}
	want := int(l.expect * l.length.Seconds())
	if l.rate > 0 {
		want = int(l.rate * l.length.Seconds())
		args = append(args, "-rate", fmt.Sprint(l.rate), "-length", l.length.String())
	} else {
		args = append(args, "-keys", strconv.Itoa(want))
	}
	out, cpu, err := command(ctx, s.self, args...)
	if err != nil {
		return figures{}, err
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		return figures{}, fmt.Errorf("driver: what it printed: %w", err)
	}
	f, err := fromHistory(path)
	if err != nil {
		return figures{}, err
	}
	if f.requests != int64(want) {
		return figures{}, fmt.Errorf("driver: the history holds %d answers to %d requests: %v", f.requests, want, o.Doubts)
	}
	f.seconds, f.cpu = o.Seconds, cpu
	if len(o.Doubts) > 0 {
		f.remark = o.Doubts[0]
	}
	return f, nil
}

// fromHistory reads exact times, not those of a histogram.
func fromHistory(path string) (f figures, err error) {
	var service, response []int64
	for e, err := range history.Scan(path) {
		if err != nil {
			return figures{}, err
		}
		a := e.Attempt
		if a == nil {
			continue
		}
		if a.Outcome != history.Returned || a.Status != created || len(a.Body) != len(answer) {
			return figures{}, fmt.Errorf("driver: operation %d: %s, status %d, %d bytes", a.Op, a.Outcome, a.Status, len(a.Body))
		}
		f.requests++
		f.late = append(f.late, a.SentNS-a.IntendedNS)
		service = append(service, a.DoneNS-a.SentNS)
		response = append(response, a.DoneNS-a.IntendedNS)
	}
	if f.requests == 0 {
		return figures{}, errors.New("driver: its history is empty")
	}
	f.times, f.response = timesOf(service), timesOf(response)
	return f, nil
}

const created = 201 // what the handler answers
