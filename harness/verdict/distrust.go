package verdict

// Distrust takes back what a verdict says for sure, since the facts under it may have been changed after the run. Nothing of it holds any more, and
// nobody is accused by a file that someone else may have written: its counterexamples are kept, as inconclusive.
func (v *Verdict) Distrust(why string) {
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Status == NotJudged {
			continue
		}
		if f.Status == Violated {
			f.Why = "counterexamples were found in files that were changed since the run: " + why
		} else {
			f.Why = why
		}
		f.Status = Inconclusive
	}
	v.DistrustGates(why)
}

// DistrustGates takes back what is said of latencies.
func (v *Verdict) DistrustGates(why string) {
	for i := range v.Gates {
		v.Gates[i].Status, v.Gates[i].Why = Inconclusive, why
	}
}
