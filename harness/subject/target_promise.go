package subject

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
)

// TargetContract is what the service promises: a profile, and what is otherwise. A row that is left out is the profile's.
type TargetContract struct {
	Profile          string       `yaml:"profile"`
	Fresh            TargetRow    `yaml:"fresh"`
	Replay           TargetReplay `yaml:"replay"`
	Mismatch         TargetRow    `yaml:"mismatch"`
	MismatchInFlight TargetRow    `yaml:"mismatch_in_flight"`
	InFlight         TargetRow    `yaml:"in_flight"`
	After4xx         TargetRow    `yaml:"after_4xx"`
	After5xx         TargetRow    `yaml:"after_5xx"`
	MissingKey       TargetRow    `yaml:"missing_key"`
	MalformedKey     TargetRow    `yaml:"malformed_key"`
	StoreDown        TargetRow    `yaml:"store_down"`
	OtherUser        TargetRow    `yaml:"other_user"`
}

// TargetRow says how one situation is treated.
type TargetRow struct {
	Does   string `yaml:"does"`   // executes, replays, refuses, waits; anything says that it is not stated
	Status []int  `yaml:"status"` // that the answer may have
	Code   string `yaml:"code"`   // of a refusal: the JSON member "error"
}

// TargetReplay is the row of replays, with what tells them.
type TargetReplay struct {
	Does   string `yaml:"does"`
	Status []int  `yaml:"status"`
	Marker string `yaml:"marker"` // a header, as "Idempotency-Replayed: true"; none says that there is none
}

// anything is the word for what is not stated, and noMarker for a marker that there is not.
const (
	anything = "anything"
	noMarker = "none"
)

func (c TargetContract) rows() map[contract.Situation]TargetRow {
	return map[contract.Situation]TargetRow{
		contract.FirstUse: c.Fresh, contract.Repeated: {Does: c.Replay.Does, Status: c.Replay.Status},
		contract.OtherRequest: c.Mismatch, contract.OtherInFlight: c.MismatchInFlight, contract.SameInFlight: c.InFlight,
		contract.AfterRefusal: c.After4xx, contract.AfterFailure: c.After5xx, contract.KeyMissing: c.MissingKey,
		contract.KeyMalformed: c.MalformedKey, contract.StoreUnreachable: c.StoreDown, contract.OtherUser: c.OtherUser,
	}
}

func (r TargetRow) isZero() bool { return r.Does == "" && len(r.Status) == 0 && r.Code == "" }

// over is the row with what it leaves out taken from the profile's, as far as the treatment is the same.
func (r TargetRow) over(p contract.Promise) contract.Promise {
	out := contract.Promise{Situation: p.Situation, Does: contract.Treatment(r.Does), Status: r.Status, Code: r.Code}
	switch {
	case r.Does == anything:
		out.Does = contract.Unstated
	case r.Does == "":
		out.Does = p.Does
	}
	if out.Does == p.Does && len(out.Status) == 0 {
		out.Status = p.Status
		if out.Code == "" {
			out.Code = p.Code
		}
	}
	return out
}

// profile is the profile with the file's own rows.
func (c TargetContract) profile() contract.Profile {
	profile, _ := contract.FindProfile(c.Profile) // Validate has refused another name
	var rows []contract.Promise
	for situation, row := range c.rows() {
		if !row.isZero() {
			rows = append(rows, row.over(profile.Row(situation)))
		}
	}
	profile = profile.With(rows...)
	switch header, value, _ := strings.Cut(c.Replay.Marker, ":"); header {
	case "":
	case noMarker:
		profile.Marker = contract.Marker{}
	default:
		profile.Marker = contract.Marker{Header: strings.TrimSpace(header), Value: strings.TrimSpace(value)}
	}
	return profile
}

// Contract is what the server promises, as far as the file says.
func (t Target) Contract() contract.Contract {
	c := t.promised()
	c.Recovery = t.Recovery()
	c.Routes[0].Evidence.Charge = t.Charged()
	if len(t.Evidence.Sources()) < 2 {
		c.Unstated["evidence-agrees"] = "there is one source of evidence; write a second one, such as evidence.http, file or provider, to have them compared"
	}
	return c
}

// Charged says whether charges are counted beside other evidence: each is an effect of its own, in a ledger that the harness keeps.
func (t Target) Charged() bool {
	sources := t.Evidence.Sources()
	return len(sources) > 1 && t.Evidence.Provider.Env != ""
}

func (t Target) promised() contract.Contract {
	if t.Promise.Profile != "" {
		return contract.Promised{
			Method: t.Request.Method, Path: t.Request.Path, Profile: t.Promise.profile(), Recovers: t.Recovery() > 0, Missing: t.missing(),
		}.Contract()
	}
	return contract.Service{
		Method: t.Request.Method, Path: t.Request.Path, Recovers: t.Recovery() > 0,
		Executed: t.Answers.Executed, Replayed: t.Answers.Replayed, InFlight: t.Answers.InFlight,
		Mismatch: t.Answers.Mismatch, Failed: t.Answers.Failed,
	}.Contract()
}

// missing names the situations that the file gives no means to bring about.
func (t Target) missing() map[contract.Situation]string {
	out := map[contract.Situation]string{}
	for _, need := range []struct {
		given     bool
		situation contract.Situation
		cure      string
	}{
		{t.OtherBody != "", contract.OtherRequest, "other_body: missing; write a body that asks for something else"},
		{t.OtherBody != "" && t.SlowBody != "", contract.OtherInFlight, "slow_body or other_body: missing; write a body that takes a while, and one that asks for something else"},
		{t.SlowBody != "", contract.SameInFlight, "slow_body: missing; write a body that takes half a second or so, so that a duplicate meets it in flight"},
		{t.RefusedBody != "", contract.AfterRefusal, "refused_body: missing; write a body whose action is refused with 4xx"},
		{t.FailingBody != "", contract.AfterFailure, "failing_body: missing; write a body whose action fails with 5xx, if there is one"},
		{!t.Running() || t.Database.Listen != "", contract.StoreUnreachable, "start: missing; let idemstorm start the service, or put it behind database.listen, so that its database can be taken away"},
		{len(t.Users) > 1, contract.OtherUser, "users: missing; write two, each with the headers that it is known by"},
	} {
		if !need.given {
			out[need.situation] = need.cure
		}
	}
	return out
}

func (t Target) validatePromise() error {
	c := t.Promise
	_, known := contract.FindProfile(c.Profile)
	switch {
	case c.Profile == "" && !c.empty():
		return fmt.Errorf("contract.profile: missing; write one of %s", strings.Join(contract.ProfileNames(), ", "))
	case c.Profile == "":
		return nil
	case !known:
		return fmt.Errorf("contract.profile: %q is unknown; write one of %s", c.Profile, strings.Join(contract.ProfileNames(), ", "))
	case !t.Answers.empty():
		return fmt.Errorf("answers: contract.profile says what answers mean; leave one of the two out")
	}
	rows := c.rows()
	for _, situation := range contract.Situations {
		if err := rows[situation].validate(situation); err != nil {
			return fmt.Errorf("contract.%s.%w", situation, err)
		}
	}
	return c.Replay.validateMarker()
}

func (c TargetContract) empty() bool {
	for _, row := range c.rows() {
		if !row.isZero() {
			return false
		}
	}
	return c.Replay.Marker == ""
}

func (r TargetRow) validate(s contract.Situation) error {
	var words []string
	for _, does := range s.Choices() {
		words = append(words, string(does))
	}
	words = append(words, anything)
	if r.Does != "" && !slices.Contains(words, r.Does) {
		return fmt.Errorf("does: %q is not possible here; write one of %s", r.Does, strings.Join(words, ", "))
	}
	for i, status := range r.Status {
		if status < 200 || status > 599 {
			return fmt.Errorf("status[%d]: %d is no status of an answer; write one from 200 to 599", i, status)
		}
		if r.Does == string(contract.Refuses) && status < 400 {
			return fmt.Errorf("status[%d]: %d refuses nothing; write one from 400 on, or another word for does", i, status)
		}
	}
	return nil
}

func (r TargetReplay) validateMarker() error {
	if r.Marker == "" || r.Marker == noMarker {
		return nil
	}
	header, value, found := strings.Cut(r.Marker, ":")
	if !found || !headerName.MatchString(header) || strings.TrimSpace(value) == "" || strings.ContainsAny(value, "\r\n\x00") {
		return fmt.Errorf("contract.replay.marker: %q is no header with its value; write one such as \"Idempotency-Replayed: true\", or none", r.Marker)
	}
	return nil
}

func (a TargetAnswers) empty() bool {
	return a.Executed == nil && a.Replayed == nil && a.InFlight == nil && a.Mismatch == nil && a.Failed == nil
}
