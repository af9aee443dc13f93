package check

import (
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

// stretch is how many attempts in a row show an error rate. Counting attempts instead of milliseconds keeps a lull from looking like
// calm.
const stretch = 20

// bad says whether an attempt counts as an error of the server's: no answer, or a 5xx. A client that hung up as planned proves nothing.
func bad(a *history.Attempt) bool {
	if a.Outcome == history.Returned {
		return a.Status >= 500
	}
	return a.Cause != history.CauseGaveUp && a.Cause != history.CauseInterrupted
}

// errorLevel is the share of errors among the attempts that ended before a moment. Where none did, nothing speaks for errors: 0. marks are
// in the order of their ends.
func errorLevel(marks []mark, before int64) float64 {
	var all, failed float64
	for i := range marks {
		if marks[i].done >= before {
			break
		}
		all++
		if marks[i].bad {
			failed++
		}
	}
	return failed / max(all, 1)
}

// errorsBack finds when the error rate was back at level after a fault had healed: at the last error before the first stretch of
// attempts in a row, by their ends, that has no more errors than the level makes of so many; a moment that is counted from the heal, and 0
// if already the first stretch is like that. It looks no further than until, when something else strikes or the run ends. marks are those that
// the fault concerns, in the order of their ends. Where it cannot be told, why says so.
func errorsBack(marks []mark, healed, until int64, level float64) (took time.Duration, why string) {
	marks = between(marks, healed, until)
	allowed := int(math.Ceil(level * stretch))
	if len(marks) < stretch {
		return 0, fmt.Sprintf("only %d requests ended between the heal and the next strike or the end", len(marks))
	}
	failed := 0
	for i := range marks {
		failed += ones(marks[i].bad)
		first := i - stretch + 1
		if first > 0 {
			failed -= ones(marks[first-1].bad)
		}
		switch {
		case first < 0 || failed > allowed:
		case first == 0:
			return 0, ""
		default:
			return time.Duration(marks[first-1].done - healed), ""
		}
	}
	return 0, "not before the next strike or the end"
}

// between are the marks that ended in (from, until].
func between(marks []mark, from, until int64) []mark {
	after := func(at int64) int { return sort.Search(len(marks), func(i int) bool { return marks[i].done > at }) }
	return marks[after(from):max(after(from), after(until))]
}

func ones(is bool) int {
	if is {
		return 1
	}
	return 0
}
