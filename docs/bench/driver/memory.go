package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

// flatBar bounds what the driver's resident memory may grow by between the first minutes after its beginning and the last ones, as a share.
const flatBar = 0.10

// memory runs the driver for long in a closed loop, and says what it held by the samples that it took of itself.
func memory(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("memory", flag.ContinueOnError)
	length := set.Duration("length", 10*time.Minute, "of the run")
	every := set.Duration("every", 10*time.Second, "a sample")
	l := load{length: 3 * time.Second}
	set.IntVar(&l.clients, "clients", 32, "clients")
	return onStage(set, args, func(s *stage) error { return measureMemory(ctx, s, l, *length, *every) })
}

func measureMemory(ctx context.Context, s *stage, l load, length, every time.Duration) (err error) {
	fmt.Printf("memory: a closed loop of %d clients for %v, the driver's process alone\n%s\n", l.clients, length, conditions())
	if l.expect, err = warmUp(ctx, s, l); err != nil {
		return err
	}
	path := filepath.Join(s.dir, "history.jsonl.gz")
	keys := int(1.5 * l.expect * length.Seconds()) // more than can be sent: the time ends the run
	out, _, err := command(ctx, s.self, "long", "-target", s.url, "-history", path,
		"-clients", strconv.Itoa(l.clients), "-keys", strconv.Itoa(keys), "-length", length.String(), "-every", every.String())
	if err != nil {
		return err
	}
	samples, err := decodeSamples(out)
	if err != nil {
		return err
	}
	attempts, size, err := sizeOf(path)
	if err != nil {
		return err
	}
	fmt.Printf("%d requests, each with its answer in the history of %.0f MiB\n", attempts, float64(size)/(1<<20))
	return printMemory(samples, attempts)
}

func decodeSamples(out []byte) (samples []sample, err error) {
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var x sample
		switch err := decoder.Decode(&x); {
		case errors.Is(err, io.EOF):
			return samples, nil
		case err != nil:
			return nil, fmt.Errorf("what the driver sampled: %w", err)
		}
		samples = append(samples, x)
	}
}

// sizeOf reads the history to its end: it counts its answers and gives the bytes of the file.
func sizeOf(path string) (answers, size int64, err error) {
	for e, err := range history.Scan(path) {
		if err != nil {
			return 0, 0, err
		}
		if e.Attempt != nil && e.Attempt.Outcome == history.Returned && e.Attempt.Status == created {
			answers++
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	return answers, info.Size(), nil
}

// perMinute gathers the samples of each whole minute.
func perMinute(samples []sample) (minutes [][]sample) {
	for _, x := range samples {
		m := int(x.At / 60)
		for len(minutes) <= m {
			minutes = append(minutes, nil)
		}
		minutes[m] = append(minutes[m], x)
	}
	return minutes
}

func mean(samples []sample, of func(sample) float64) (sum float64) {
	for _, x := range samples {
		sum += of(x) / float64(len(samples))
	}
	return sum
}

func resident(x sample) float64 { return x.Resident }
func live(x sample) float64     { return x.Live }

func printMemory(samples []sample, requests int64) error {
	fmt.Printf("\n%-8s%14s%18s\n", "minute", "resident MiB", "live heap MiB")
	for i, m := range perMinute(samples) {
		if len(m) > 0 {
			fmt.Printf("%-8d%14.1f%18.2f\n", i, mean(m, resident), mean(m, live))
		}
	}
	steady := samples[min(len(samples), len(samples)/10):] // without the first tenth, in which buffers and pools fill
	if len(steady) < 8 {
		return fmt.Errorf("%d samples are too few for a slope", len(steady))
	}
	seconds := samples[len(samples)-1].At
	for _, series := range []struct {
		name string
		of   func(sample) float64
	}{{"resident memory", resident}, {"live heap", live}} {
		slope, off := fit(steady, series.of)
		fmt.Printf("slope of %-16s %+.3f ± %.3f MiB a minute (95 %%), %+.2f bytes a request\n",
			series.name, slope*60, off*60, slope*seconds*(1<<20)/float64(requests))
	}
	quarter := len(steady) / 4
	first, last := mean(steady[:quarter], resident), mean(steady[len(steady)-quarter:], resident)
	verdict := "met"
	if last > first*(1+flatBar) {
		verdict = "MISSED"
	}
	fmt.Printf("resident memory of the last quarter of the run: %.1f MiB, of the first after the buffers have filled: %.1f MiB, %+.1f %%; bar ≤ +%.0f %%: %s\n",
		last, first, 100*(last/first-1), 100*flatBar, verdict)
	return nil
}

// fit gives the slope by least squares, a second, and what it may be off by. Samples that lie close together are not independent, so the interval is
// rather too narrow.
func fit(samples []sample, of func(sample) float64) (slope, off float64) {
	n := float64(len(samples))
	x0, y0 := mean(samples, func(x sample) float64 { return x.At }), mean(samples, of)
	var xx, xy, rest float64
	for _, x := range samples {
		xx += (x.At - x0) * (x.At - x0)
		xy += (x.At - x0) * (of(x) - y0)
	}
	slope = xy / xx
	for _, x := range samples {
		e := of(x) - y0 - slope*(x.At-x0)
		rest += e * e
	}
	return slope, 2 * math.Sqrt(rest/(n-2)/xx)
}
