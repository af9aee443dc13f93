package reports

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// dash stands for what is not known.
const dash = "–"

var (
	glyphs = map[verdict.Status]string{
		verdict.NotJudged: "–", verdict.Held: "✓", verdict.Violated: "✗", verdict.Inconclusive: "?",
	}
	exitWords = map[int]string{
		verdict.ExitHeld:         "held",
		verdict.ExitViolated:     "violated",
		verdict.ExitGate:         "too slow",
		verdict.ExitInconclusive: "inconclusive",
	}
	exitGlyphs = map[int]string{
		verdict.ExitHeld: "✓", verdict.ExitViolated: "✗", verdict.ExitGate: "!", verdict.ExitInconclusive: "?",
	}
	exitMeanings = map[int]string{
		verdict.ExitHeld:         "every judged invariant held and every gate was met",
		verdict.ExitViolated:     "an invariant was violated",
		verdict.ExitGate:         "every judged invariant held, and a latency gate failed",
		verdict.ExitInconclusive: "something that should have been judged could not be",
	}
)

// gravity orders statuses for tables: what needs attention first.
func gravity(s verdict.Status) int {
	switch s {
	case verdict.Violated:
		return 0
	case verdict.Inconclusive:
		return 1
	case verdict.Held:
		return 2
	}
	return 3
}

// duration gives about three significant digits and a unit that suits the size.
func duration(d time.Duration) string {
	switch abs := d.Abs(); {
	case abs == 0:
		return "0"
	case abs < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case abs < time.Millisecond:
		return digits(float64(d)/1e3) + " µs"
	case abs < time.Second:
		return digits(float64(d)/1e6) + " ms"
	case abs < time.Minute:
		return digits(float64(d)/1e9) + " s"
	}
	return d.Round(time.Second).String()
}

// digits switches where rounding would add a digit: 9.999 is 10.0, not 10.00.
func digits(f float64) string {
	abs := max(f, -f)
	switch {
	case abs < 9.995:
		return strconv.FormatFloat(f, 'f', 2, 64)
	case abs < 99.95:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 0, 64)
}

// millis is a time in milliseconds to the microsecond, without the unit, for aligned columns.
func millis(ns int64) string {
	if ns > -500 && ns < 0 {
		ns = 0 // not "-0.000"
	}
	return strconv.FormatFloat(float64(ns)/1e6, 'f', 3, 64)
}

// count groups thousands with commas.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// plural is "1 thing" or "2 things".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// percentile is p50, p99.9 and so on.
func percentile(q float64) string {
	return "p" + strconv.FormatFloat(roundTo(q*100, 1e6), 'f', -1, 64)
}

func roundTo(f, step float64) float64 {
	return float64(int64(f*step+0.5)) / step
}

// clip keeps the first n runes and says how many there were.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return fmt.Sprintf("%s… (%s characters)", string(r[:n]), count(int64(len(r))))
}

// elide keeps both ends of a long name within n runes, since keys differ at either end.
func elide(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// sentence puts the parts that are not empty together.
func sentence(sep string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}
