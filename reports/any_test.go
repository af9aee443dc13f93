package reports

import (
	"bytes"
	"encoding/xml"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// anyRun draws runs with every field filled at will, as a damaged or hand-edited run.json may have them; only a status is always
// one of the four, since a file holds it as a word.
func anyRun() *rapid.Generator[verdict.Run] {
	return rapid.MakeCustom[verdict.Run](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[verdict.Status](): rapid.SampledFrom([]verdict.Status{verdict.NotJudged, verdict.Held, verdict.Violated, verdict.Inconclusive}).AsAny(),
		reflect.TypeFor[time.Time]():      rapid.Map(rapid.Int64(), func(s int64) time.Time { return time.Unix(s, 0) }).AsAny(),
	}})
}

func TestAnyRunAtAllIsShown(t *testing.T) {
	all := anyRun()
	rapid.Check(t, func(t *rapid.T) {
		run := all.Draw(t, "run")
		for i := range run.Cases { // most drawn references would point nowhere
			for f := range run.Verdict.Findings {
				for v := range run.Verdict.Findings[f].Violations {
					x := &run.Verdict.Findings[f].Violations[v]
					for o := range x.Ops {
						x.Ops[o].Op = run.Cases[i].Operation.ID
					}
				}
			}
		}
		format := rapid.SampledFrom(slices.Sorted(maps.Keys(formats))).Draw(t, "format")
		var b bytes.Buffer
		if err := formats[format](&b, run); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if !utf8.Valid(b.Bytes()) {
			t.Fatalf("%s is not UTF-8", format)
		}
		if format == ".junit.xml" {
			if err := xml.Unmarshal(b.Bytes(), &junit{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
