package latency

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// exact is what a histogram log has no place for. It stands in a comment before the series' line, so that other tools read the file as well.
type exact struct {
	Series
	MinNS   int64   `json:"min_ns"`
	MaxNS   int64   `json:"max_ns"`
	SumNS   float64 `json:"sum_ns"`
	Clipped int64   `json:"clipped"`
}

const exactPrefix = "#[Idemstorm: "

// WriteLog writes the set in HdrHistogram log format, version 1.3: one interval that spans the run, with one tagged line a series. Values are
// nanoseconds, the lines' maxima milliseconds as the format has it.
func WriteLog(path string, s *Set) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write latencies: %w", err)
	}
	w := bufio.NewWriter(file)
	err = errors.Join(s.write(w), w.Flush(), file.Close())
	if err != nil {
		return fmt.Errorf("write latencies to %s: %w", path, err)
	}
	return nil
}

func (s *Set) write(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := hdrhistogram.NewHistogramLogWriter(w)
	if err := errors.Join(log.OutputLogFormatVersion(), log.OutputStartTime(0), log.OutputLegend()); err != nil {
		return err
	}
	for _, series := range s.sorted() {
		if err := s.series[series].write(w, series); err != nil {
			return fmt.Errorf("series %s %s: %w", series.Group, series.Kind, err)
		}
	}
	return nil
}

func (s *samples) write(w io.Writer, series Series) error {
	note, err := json.Marshal(exact{series, int64(s.min), int64(s.max), s.sum, s.clipped})
	if err != nil {
		return err
	}
	payload, err := s.hist.EncodeV2()
	if err != nil {
		return err
	}
	ms := float64(s.max) / 1e6
	_, err = fmt.Fprintf(w, "%s%s]\nTag=%s,0.000,0.000,%f,%s\n", exactPrefix, note, tagOf(series), ms, payload)
	return err
}

// tagOf names a series without the characters that tags may not hold.
func tagOf(s Series) string {
	return strings.NewReplacer(" ", "_", ",", "_", "\n", "_", "\r", "_").Replace(s.Group + ":" + string(s.Kind))
}

// ReadLog reads what WriteLog has written.
func ReadLog(path string) (*Set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read latencies: %w", err)
	}
	set := &Set{}
	var note *exact
	for i, line := range strings.Split(string(data), "\n") {
		if err := set.readLine(line, &note); err != nil {
			return nil, fmt.Errorf("read latencies from %s: line %d: %w", path, i+1, err)
		}
	}
	return set, nil
}

func (s *Set) readLine(line string, note **exact) error {
	switch {
	case strings.HasPrefix(line, exactPrefix):
		*note = &exact{}
		return json.Unmarshal([]byte(strings.TrimSuffix(line[len(exactPrefix):], "]")), *note)
	case !strings.HasPrefix(line, "Tag="):
		return nil // comments, legend
	case *note == nil:
		return errors.New("a series without its exact figures: not written by this program")
	}
	fields := strings.SplitN(line, ",", 5)
	if len(fields) < 5 {
		return errors.New("a line with fewer than five fields")
	}
	hist, err := hdrhistogram.Decode([]byte(fields[4]))
	if err != nil {
		return err
	}
	x := **note
	*note = nil
	d := newSamples()
	if dropped := d.hist.Merge(hist); dropped > 0 {
		return fmt.Errorf("%d values are out of range", dropped)
	}
	d.min, d.max, d.sum, d.clipped = time.Duration(x.MinNS), time.Duration(x.MaxNS), x.SumNS, x.Clipped
	s.at(x.Series).merge(d)
	return nil
}
