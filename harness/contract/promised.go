package contract

import (
	"fmt"
	"slices"
)

// Promised is somebody else's endpoint that keeps to a profile.
type Promised struct {
	Method, Path string
	Profile      Profile
	Recovers     bool                 // it is stated how soon a key reaches its final answer
	Missing      map[Situation]string // situations that the target file gives no means to bring about, each with what to add
}

// Contract is what the endpoint promises. At most one execution a key, and one behind every 2xx, is part of it whatever the profile says.
func (p Promised) Contract() Contract {
	c := Service{Method: p.Method, Path: p.Path, Recovers: p.Recovers}.Contract()
	c.Answers = p.answers()
	c.Promises, c.Marker = p.Profile.Rows, p.Profile.Marker
	c.SharedKeys = slices.Contains([]Treatment{Replays, Refuses}, p.Profile.Row(OtherUser).Does)
	c.Unstated = p.unstated(c.Unstated)
	return c
}

// answers recognises marked answers first, then refusals whose status or code means one thing, then the class.
func (p Promised) answers() (rules []Rule) {
	yes, no := true, false
	done := []Rule{{Answer: AnswerDone, Class: 2}}
	if p.Profile.Marker.Stated() {
		rules = []Rule{
			{Answer: AnswerRejected, Class: 4, Replay: &yes},
			{Answer: AnswerRejected, Class: 5, Replay: &yes}, // the failure is final
		}
		done = []Rule{{Answer: AnswerReplay, Class: 2, Replay: &yes}, {Answer: AnswerFresh, Class: 2, Replay: &no}}
	}
	for _, named := range []struct {
		situation Situation
		answer    Answer
	}{
		{OtherRequest, AnswerMismatch},
		{SameInFlight, AnswerInFlight},
		{AfterRefusal, AnswerPreviousFailed},
		{AfterFailure, AnswerPreviousFailed},
		{KeyMalformed, AnswerMalformed},
	} {
		rules = append(rules, p.refusals(named.situation, named.answer)...)
	}
	refused := AnswerRejected
	if p.Profile.Row(SameInFlight).Does == Unstated {
		refused = AnswerRefused
	}
	return append(append(rules, done...), Rule{Answer: refused, Class: 4}, Rule{Answer: AnswerFailed, Class: 5})
}

// refusals are the rules of one situation's refusals. A status alone is trusted only where no other refusal has it. In flight is the exception:
// who meets it asks again, which is never wrong.
func (p Promised) refusals(s Situation, meaning Answer) (rules []Rule) {
	row := p.Profile.Row(s)
	if row.Does != Refuses {
		return nil
	}
	for _, status := range row.Status {
		if row.Code != "" || s == SameInFlight || !p.shared(s, status) {
			rules = append(rules, Rule{Answer: meaning, Status: status, Error: row.Code})
		}
	}
	return rules
}

// shared says whether a status may mean something else than a refusal in this situation. 400 may always.
func (p Promised) shared(s Situation, status int) bool {
	return status == 400 || slices.ContainsFunc(p.Profile.Rows, func(r Promise) bool {
		alike := r.Situation == OtherInFlight && s == OtherRequest || r.Situation == AfterFailure && s == AfterRefusal || r.Situation == AfterRefusal && s == AfterFailure
		return r.Situation != s && !alike && r.Does == Refuses && slices.Contains(r.Status, status)
	})
}

// Why an invariant cannot be judged of a promised endpoint.
const (
	whySituations = "the answers to each situation are judged one by one instead"
	whyIgnored    = "the contract lets another body under a used key pass"
	whyNoReplay   = "the contract does not promise to repeat the first answer"
	whyUnmarked   = "a failure that is repeated cannot be told from a new one without a marker; state contract.replay.marker"
)

func (p Promised) unstated(out map[string]string) map[string]string {
	for _, id := range []string{"replay-fidelity", "mismatch-rejected"} {
		delete(out, id)
	}
	for _, id := range []string{"legal-transitions", "malformed-rejected", "scope-isolated", "fail-closed", "fail-open"} {
		out[id] = whySituations
	}
	if p.Profile.Row(OtherRequest).Does != Refuses {
		out["mismatch-rejected"] = whyIgnored
	}
	if row := p.Profile.Row(Repeated); row.Does != Replays || len(row.Status) > 0 {
		out["replay-fidelity"] = whyNoReplay
	}
	if p.Recovers && p.Profile.Row(AfterFailure).Does == Replays && !p.Profile.Marker.Stated() {
		out["recovers"] = whyUnmarked
	}
	for _, row := range p.Profile.Rows {
		delete(out, row.Situation.Invariant())
		if row.Does == Unstated {
			out[row.Situation.Invariant()] = fmt.Sprintf("contract.%s does not say what happens", row.Situation)
		} else if why, missing := p.Missing[row.Situation]; missing {
			out[row.Situation.Invariant()] = why
		}
	}
	return out
}

// Invariant is the id under which a situation is judged, such as "answer-mismatch".
func (s Situation) Invariant() string { return "answer-" + string(s) }
