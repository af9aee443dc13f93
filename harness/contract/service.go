package contract

import "slices"

// Service is what is known of somebody else's endpoint: how it answers, as far as that is stated. What holds for every service is
// judged in any case: at most one execution a key, and an execution behind every 2xx.
type Service struct {
	Method, Path string
	Executed     []int // statuses of an execution; none: a 2xx is an execution or a replay
	Replayed     []int
	InFlight     []int // nil: not stated, so that a 4xx may be one; empty: duplicates wait
	Mismatch     []int
	Failed       []int // beside every 5xx that is none of the others
	Recovers     bool  // it is stated how soon a key reaches its final answer
}

// ServiceRoute is the id of the only route of a Service's contract.
const ServiceRoute = "target"

// Contract is what the service promises. It accuses no legal service: of a service that waits and then replays, answers 425 or 409,
// repeats errors or ignores another body, only what it does to its data is judged.
func (s Service) Contract() Contract {
	return Contract{
		Routes: []Route{{
			ID: ServiceRoute, Method: s.Method, Pattern: s.Path, Tier: TierClosed, TTL: day, Replays: true, Evidence: Evidence{Orders: 1},
		}},
		MaxTTL: week, Answers: s.answers(), Unstated: s.unstated(), Foreign: true,
	}
}

// answers reads the statuses that were stated first, and then the class.
func (s Service) answers() (rules []Rule) {
	for _, stated := range []struct {
		answer   Answer
		statuses []int
	}{
		{AnswerFresh, s.Executed},
		{AnswerReplay, s.Replayed},
		{AnswerInFlight, s.InFlight},
		{AnswerMismatch, s.Mismatch},
		{AnswerFailed, s.Failed},
	} {
		for _, status := range stated.statuses {
			rules = append(rules, Rule{Answer: stated.answer, Status: status})
		}
	}
	refused := AnswerRejected
	if s.InFlight == nil {
		refused = AnswerRefused
	}
	return append(rules, Rule{Answer: AnswerDone, Class: 2}, Rule{Answer: refused, Class: 4}, Rule{Answer: AnswerFailed, Class: 5})
}

// Why an invariant cannot be judged, with what to add where the file can say it.
const (
	whyNoEvidence = "the target file cannot name evidence for it"
	whyNoProfile  = "what the answers promise is not stated beyond their statuses"
	whyNoTable    = "contract.profile: missing; write one of adr0138, ietf and stripe, with what your service does otherwise"
	whyOneUser    = "all requests are of one user on one endpoint"
	whyNoOutage   = "what is promised in an outage is not stated"
	whyNoMismatch = "answers.mismatch does not say with which status another request under a used key is refused"
	whyAmbiguous  = "the statuses of answers.mismatch have other meanings too"
	whyNoBound    = "recovers_within does not say how soon a key must reach its final answer"
)

func (s Service) unstated() map[string]string {
	out := map[string]string{
		"replay-fidelity": whyNoProfile, "legal-transitions": whyNoProfile, "malformed-rejected": whyNoProfile,
		"scope-isolated": whyOneUser, "fail-closed": whyNoOutage, "fail-open": whyNoOutage,
	}
	for _, id := range []string{
		"money-conserved", "order-audit-match", "nothing-unclaimed", "replay-audited", "zombie-fenced", "resources-return", "retention", "erasure",
		"gates-respected", "no-secrets", "metrics-agree",
	} {
		out[id] = whyNoEvidence
	}
	for _, situation := range Situations {
		out[situation.Invariant()] = whyNoTable
	}
	if len(s.Mismatch) == 0 {
		out["mismatch-rejected"] = whyNoMismatch
	} else if s.ambiguous() {
		out["mismatch-rejected"] = whyAmbiguous
	}
	if !s.Recovers {
		out["recovers"] = whyNoBound
	}
	return out
}

// ambiguous says whether a mismatch answer may mean something else.
func (s Service) ambiguous() bool {
	return slices.ContainsFunc(s.Mismatch, func(status int) bool {
		return slices.Contains(s.InFlight, status) || slices.Contains(s.Failed, status)
	})
}
