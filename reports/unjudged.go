package reports

import (
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// judged leaves out what the scenario does not judge.
func judged(findings []verdict.Finding) []verdict.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f verdict.Finding) bool { return f.Status == verdict.NotJudged })
}

// unjudgedReason is why some invariants were not judged.
type unjudgedReason struct {
	Why        string
	Invariants []string
}

// unjudgedReasons gathers what was not judged by why, in the order of the findings.
func unjudgedReasons(findings []verdict.Finding) (list []unjudgedReason) {
	for _, f := range findings {
		if f.Status != verdict.NotJudged {
			continue
		}
		i := slices.IndexFunc(list, func(r unjudgedReason) bool { return r.Why == f.Why })
		if i < 0 {
			i = len(list)
			list = append(list, unjudgedReason{Why: f.Why})
		}
		list[i].Invariants = append(list[i].Invariants, f.Invariant)
	}
	return list
}

// unjudged says in full what was not judged of somebody else's server: each reason names what to add to its file.
func (p *printer) unjudged(findings []verdict.Finding) {
	list := unjudgedReasons(findings)
	for _, r := range list {
		p.paragraph(faint, "– not judged: ", strings.Join(r.Invariants, ", ")+": "+r.Why)
	}
	if len(list) > 0 {
		p.blank()
	}
}
