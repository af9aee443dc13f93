package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sample is what the driver's process holds at one moment of its run, in MiB.
type sample struct {
	At       float64 `json:"at"`       // seconds since the beginning
	Resident float64 `json:"resident"` // by the operating system
	Live     float64 `json:"live"`     // heap that the last collection found in use
}

// driveLong is the driver's process of a long run: it prints samples of itself while it drives.
func driveLong(ctx context.Context, args []string) error {
	var a attack
	var every time.Duration
	a.set("long").DurationVar(&every, "every", 10*time.Second, "a sample")
	if err := a.parse(args); err != nil {
		return err
	}
	watch, stop := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	var trouble error
	started := func() { watcher.Go(func() { trouble = watchMemory(watch, every, os.Stdout) }) }
	_, err := a.run(ctx, started)
	stop()
	watcher.Wait()
	return errors.Join(err, trouble)
}

func watchMemory(ctx context.Context, every time.Duration, w io.Writer) error {
	begun := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for encoder := json.NewEncoder(w); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		x, err := takeSample()
		if err != nil {
			return err
		}
		x.At = time.Since(begun).Seconds()
		if err := encoder.Encode(x); err != nil {
			return err
		}
	}
}

func takeSample() (sample, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return sample{}, fmt.Errorf("this system does not say what a process holds: %w", err)
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return sample{}, fmt.Errorf("/proc/self/statm: %q", text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return sample{}, err
	}
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(heap)
	return sample{Resident: float64(pages) * float64(os.Getpagesize()) / (1 << 20), Live: float64(heap[0].Value.Uint64()) / (1 << 20)}, nil
}
