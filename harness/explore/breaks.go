package explore

import (
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// breaks is the number of the step that a drawing marks: the last one that made a change visible to others. It is 0 when nothing
// was violated, and the last step when no change was seen.
func breaks(t Trace) int {
	if len(t.Outcome.Violated) == 0 {
		return 0
	}
	last := len(t.Steps)
	p := publishing{open: map[[2]int]bool{}, changed: map[[2]int]bool{}}
	for at, taken := range t.Steps {
		for _, ended := range taken.Ended {
			if p.ended(ended) {
				last = releasedBefore(t.Steps[:at+1], ended.Step)
			}
		}
	}
	return last
}

func releasedBefore(steps []schedule.Taken, step schedule.Step) int {
	for i, taken := range slices.Backward(steps) {
		if taken.Step.Same(step) {
			return i + 1
		}
	}
	return len(steps)
}

// publishing follows by their tags which connections, an actor's each, are in a transaction, and which have changed something that
// nobody else sees yet.
type publishing struct {
	open, changed map[[2]int]bool
}

// ended takes in how a step ended, and tells whether that made a change visible: not a ROLLBACK, not a statement that found no row.
func (p publishing) ended(e schedule.Ended) (visible bool) {
	on := [2]int{e.Step.Actor, e.Step.Conn}
	if e.Step.Kind == schedule.Commit {
		visible = p.changed[on]
		p.changed[on] = false
	}
	for _, tag := range e.Tags {
		switch tag {
		case "BEGIN":
			p.open[on] = true
		case "COMMIT", "ROLLBACK":
			visible = visible || tag == "COMMIT" && p.changed[on]
			p.open[on], p.changed[on] = false, false
		default:
			p.changed[on] = p.changed[on] || changes(tag, e.Step.SQL)
		}
	}
	if e.Step.Kind == schedule.Statement && !p.open[on] {
		visible = visible || p.changed[on]
		p.changed[on] = false
	}
	return visible
}

// changes reads what a statement did from its tag. That of a SELECT hides what a WITH before it wrote.
func changes(tag, sql string) bool {
	verb, _, _ := strings.Cut(tag, " ")
	switch verb {
	case "INSERT", "UPDATE", "DELETE", "MERGE", "COPY":
		return !strings.HasSuffix(tag, " 0")
	case "SELECT":
		return len(understand(sql).writes) > 0
	}
	return false
}
