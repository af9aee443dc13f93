package history

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawOperation(t *rapid.T) Operation {
	text := rapid.SampledFrom([]string{"", "a", "é\"\\\n\t", "order", "POST"})
	n := rapid.SampledFrom([]int64{0, 1, -1, 1 << 40})
	o := Operation{
		ID: n.Draw(t, "id"), Phase: text.Draw(t, "phase"), Client: 3, DueNS: n.Draw(t, "due"), Group: n.Draw(t, "group"),
		After: n.Draw(t, "after"), Route: text.Draw(t, "route"), User: n.Draw(t, "user"), Method: text.Draw(t, "method"),
		Path: text.Draw(t, "path"), Keys: rapid.SliceOfN(text, 0, 2).Draw(t, "keys"), Key: text.Draw(t, "key"),
		Request: text.Draw(t, "request"), Spelling: text.Draw(t, "spelling"), ContentType: text.Draw(t, "type"),
		Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body"), Replica: 1, DeadlineNS: 5, GiveUpNS: n.Draw(t, "give up"), Retry: "r",
		CutBody: n.Draw(t, "cut"), SlowNS: n.Draw(t, "slow"), Twin: rapid.Bool().Draw(t, "twin"),
		Once: rapid.Bool().Draw(t, "once"), Token: text.Draw(t, "token"),
	}
	if len(o.Keys) == 0 {
		o.Keys = nil
	}
	if len(o.Body) == 0 {
		o.Body = nil
	}
	return o
}

func TestOperationsSurviveTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.jsonl.gz")
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(drawOperation), 0, 10).Draw(t, "operations")
		if err := WriteOperations(path, slices.Values(want)); err != nil {
			t.Fatal(err)
		}
		got := []Operation{}
		for o, err := range ReadOperations(path) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, o)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestOperationLinesAreWhatEncodingJSONReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawOperation(t)
		var got Operation
		if err := json.Unmarshal(AppendOperation(nil, &want), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestAPlanIsNoHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.jsonl.gz")
	if err := WriteOperations(path, slices.Values([]Operation{{ID: 1}})); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(path); err == nil {
		t.Error("a plan file was read as a history")
	}
}
