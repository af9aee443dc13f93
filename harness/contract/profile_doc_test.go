package contract

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/profiles.md anew")

const profilesHead = `# Profiles

A profile says what a service answers in each situation that a client with a key can bring about. A target file ([target-file.md](target-file.md))
names one, and states what the service does otherwise, row by row:

` + "```yaml" + `
contract:
  profile: stripe
  mismatch: {does: refuses, status: [409]}
  in_flight: {does: waits}
  replay: {does: replays, marker: "X-Replayed: yes"}   # or marker: none
  after_5xx: {does: anything}                          # not stated, and so not judged
` + "```" + `

At most one execution a key, and one execution behind every 2xx, is judged in every profile. A row is judged by the scenario ` + "`answers`" + `, and
` + "`store_down`" + ` by ` + "`outage`" + `, if the target file gives the means: other_body, slow_body, refused_body, failing_body, users.

*executes*: as under a key of its own · *replays*: the first answer again, status and body · *refuses*: one of the statuses, and nothing is
executed · *waits*: for the first request to end, and then as if it had come later · *anything*: not stated

This file is made from the tables in harness/contract: ` + "`go test ./harness/contract -run TestTheDocumentOfProfiles -update`" + `.
`

// The document is the data: what it says is what is judged.
func TestTheDocumentOfProfilesIsMadeFromTheTables(t *testing.T) {
	const file = "../../docs/profiles.md"
	want := profilesDocument()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/profiles.md is not what the tables say; run this test with -update: %s", diff)
	}
}

func profilesDocument() string {
	var b strings.Builder
	b.WriteString(profilesHead)
	for _, p := range Profiles {
		marker := "none"
		if p.Marker.Stated() {
			marker = fmt.Sprintf("`%s: %s`", p.Marker.Header, p.Marker.Value)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s. After: %s. Keys are %s unless the file says otherwise. Replays are marked by: %s.\n\n", p.Name, p.Title, p.Source, p.Format, marker)
		b.WriteString("| row | situation | the service | from |\n|---|---|---|---|\n")
		for _, row := range p.Rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.Situation, row.Situation.Meaning(), row, row.Source)
		}
	}
	b.WriteString("\n## What a row may say\n\n| row | does |\n|---|---|\n")
	for _, s := range Situations {
		var words []string
		for _, choice := range s.Choices() {
			words = append(words, string(choice))
		}
		fmt.Fprintf(&b, "| %s | %s, anything |\n", s, strings.Join(words, ", "))
	}
	return b.String()
}

// A row that is missing would be a situation that nobody looks at.
func TestEachProfileHasARowForEachSituationInOrder(t *testing.T) {
	for _, p := range Profiles {
		if len(p.Rows) != len(Situations) {
			t.Fatalf("%s has %d rows", p.Name, len(p.Rows))
		}
		for i, s := range Situations {
			if p.Rows[i].Situation != s || p.Rows[i].Source == "" || s.Meaning() == "" || len(s.Choices()) == 0 {
				t.Errorf("%s: row %d is %+v", p.Name, i, p.Rows[i])
			}
		}
	}
}

// A status that several refusals share is not taken for any of them alone, since a right service would be accused.
func TestAStatusOfSeveralMeaningsIsNotTakenForOneOfThem(t *testing.T) {
	stripe, _ := FindProfile("stripe")
	c := Promised{Method: "POST", Path: "/p", Profile: stripe}.Contract()
	for _, want := range []struct {
		status int
		marked bool
		answer Answer
	}{
		{200, false, AnswerFresh},
		{200, true, AnswerReplay},
		{400, false, AnswerRejected},
		{409, false, AnswerInFlight},
		{402, true, AnswerRejected},
		{500, true, AnswerRejected},
		{500, false, AnswerFailed},
		{302, false, AnswerUnknown},
	} {
		if got := c.Classify(want.status, want.marked, nil); got != want.answer {
			t.Errorf("%d marked %t is %q, want %q", want.status, want.marked, got, want.answer)
		}
	}
	ietf, _ := FindProfile("ietf")
	c = Promised{Method: "POST", Path: "/p", Profile: ietf}.Contract()
	if got := c.Classify(422, false, nil); got != AnswerMismatch {
		t.Errorf("422 of the ietf profile is %q", got)
	}
	own := ietf.With(Promise{Situation: AfterRefusal, Does: Refuses, Status: []int{422}})
	if got := (Promised{Profile: own}).Contract().Classify(422, false, nil); got == AnswerMismatch {
		t.Error("422 means two things, and is taken for a mismatch")
	}
}
