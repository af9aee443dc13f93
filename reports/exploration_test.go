package reports

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

const (
	lookSQL   = "\nSELECT EXISTS (\n    SELECT 1 FROM idempotency_keys\n    WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2\n)"
	claimSQL  = "INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash)\nVALUES ($1, $2, $3, $4)\nON CONFLICT DO NOTHING"
	actSQL    = "begin; UPDATE accounts SET cash_balance = cash_balance + $2::numeric WHERE user_id = $1 AND cash_balance + $2::numeric >= 0; INSERT INTO paper_orders (user_id, symbol, side, quantity) VALUES ($1, 'A;B', $3, $4)"
	markupSQL = "SELECT '<script>alert(1)</script>' /* \u202e */"
)

func step(actor int, kind schedule.Kind, sql string) schedule.Step {
	return schedule.Step{Actor: actor, Conn: 1, Kind: kind, SQL: sql}
}

// racedSchedule has all that a drawing can show: a statement that stays uncommitted, two that wait and go on, a batch, an error, an
// answer of each colour, what made it wrong, and text that wants to be markup.
func racedSchedule() *schedule.Schedule {
	look, run, done := step(0, schedule.Statement, lookSQL), step(1, schedule.Execute, claimSQL), step(1, schedule.Commit, claimSQL)
	wait, late := step(0, schedule.Execute, claimSQL), step(2, schedule.Execute, claimSQL)
	act, end := step(1, schedule.Statement, actSQL), step(1, schedule.Statement, "commit")
	odd := step(2, schedule.Statement, markupSQL)
	odd.Params = []string{"$1 = 'ACME'"}
	ended := func(s schedule.Step, tags ...string) schedule.Ended {
		return schedule.Ended{Step: s, End: "answered", Tags: tags}
	}
	return &schedule.Schedule{
		Schema: schedule.Schema, Name: "sample: 3 × order", Actors: []string{"request 1", "request 2", "cleanup"}, Preemptions: 2, Breaks: 8,
		Steps: []schedule.Taken{
			{Step: look, Ended: []schedule.Ended{ended(look, "SELECT 1")}},
			{Step: run, Switch: true, Ended: []schedule.Ended{ended(run, "INSERT 0 1")}},
			{Step: wait, Switch: true, Blocked: []schedule.Blocked{{Step: wait, On: []int{1}}}},
			{Step: odd, Ended: []schedule.Ended{ended(odd, "SELECT 1")}, Blocked: []schedule.Blocked{{Step: wait, On: []int{1}}}},
			{Step: late, Blocked: []schedule.Blocked{{Step: wait, On: []int{1}}, {Step: late, On: []int{1, 0}}}},
			{Step: act, Ended: []schedule.Ended{ended(act, "BEGIN", "UPDATE 1", "INSERT 0 1")}, Blocked: []schedule.Blocked{{Step: wait, On: []int{1}}, {Step: late}}},
			{
				Step: done, Ended: []schedule.Ended{ended(done), {Step: wait, End: "answered", Code: "40001"}, {Step: late, End: "withheld"}},
				Answers: []schedule.Answer{{Actor: 0, Status: 503, Class: "store-down"}, {Actor: 2, Class: "lost"}},
			},
			{Step: end, Ended: []schedule.Ended{ended(end, "COMMIT")}, Answers: []schedule.Answer{{Actor: 1, Status: 201, Class: "fresh"}}},
		},
		Outcome: racedOutcome(),
	}
}

func racedOutcome() schedule.Outcome {
	return schedule.Outcome{
		Executions: 2, Answers: []string{"fresh", "lost", "store-down"}, Record: "completed+completed",
		Violated: []schedule.Violation{{Invariant: "at-most-once", Sentence: "Key k of user 1 on POST /orders was executed 2 times: orders 1 and 2."}},
		Rows:     []schedule.Row{{Table: "order", Text: "id 1, status filled"}, {Table: "order", Text: "id 2, status filled"}},
	}
}

func racedResult() schedule.Result {
	s := racedSchedule()
	return schedule.Result{
		Name: s.Name, Actors: s.Actors, Preemptions: 2, Schedules: 1234, Redundant: 7, Reduced: true, Steps: 9, Violating: 1, First: 1234,
		Outcomes: []schedule.OutcomeCount{{Outcome: schedule.Outcome{Executions: 1, Answers: []string{"fresh"}, Record: "completed"}, Count: 1233}, {Outcome: s.Outcome, Count: 1}},
		Open:     []string{"the server did not repeat itself: before:\n0/1 <select>\nnow:\n0/1 insert"},
		Took:     1500 * time.Millisecond, Schedule: s,
		Command: "idemstorm explore --variant sample --requests 3", Reproduce: "idemstorm explore --replay 'a folder/schedule.json'",
	}
}

func orderedResult() schedule.Result {
	return schedule.Result{
		Name: "reference: 2 × order, duplicates", Actors: []string{"request 1", "request 2"}, Complete: true, Preemptions: schedule.Unbounded,
		Schedules: 44, Redundant: 5, Reduced: true, Steps: 11, Took: time.Second, Command: "idemstorm explore",
		Outcomes: []schedule.OutcomeCount{{Outcome: schedule.Outcome{Executions: 1, Answers: []string{"fresh", "replay"}, Record: "completed"}, Count: 44}},
	}
}

func crashedResult() schedule.CrashResult {
	claim, commit, end := step(0, schedule.Execute, claimSQL), step(0, schedule.Commit, claimSQL), step(0, schedule.Statement, "commit")
	r := schedule.CrashResult{Name: "sample, crash points", Actors: []string{"request 1"}, Steps: []schedule.Step{claim, commit, end}, Violating: 1, Took: 8 * time.Second, Command: "idemstorm explore --crash-points"}
	for i, s := range r.Steps {
		for _, fault := range []string{"cut-before", "cut-after", "kill-server"} {
			p := schedule.CrashPoint{
				Step: i + 1, Kind: s.Kind, SQL: s.SQL, Fault: fault, Story: "the connection breaks", Saw: "failed", Final: "fresh", Tries: 2,
				Outcome: schedule.Outcome{Executions: 1, Record: "completed"},
			}
			if fault == "cut-after" && i == 2 {
				p.Final, p.Outcome = "previous-failed", racedOutcome()
			}
			if fault != "kill-server" || i < 2 {
				r.Points = append(r.Points, p)
			}
		}
	}
	r.Open = []string{"kill-server: the request did not come to step 3 as it did before"}
	return r
}

// explorations are the pages on explorations, by the name of their golden files.
var explorations = map[string]func(io.Writer) error{
	"raced.html":   func(w io.Writer) error { return WriteExplorationHTML(w, racedResult()) },
	"ordered.html": func(w io.Writer) error { return WriteExplorationHTML(w, orderedResult()) },
	"unplayed.html": func(w io.Writer) error {
		return WriteExplorationHTML(w, schedule.Result{Preemptions: 2, Open: []string{"interrupted"}})
	},
	"crashed.html": func(w io.Writer) error { return WriteCrashHTML(w, crashedResult()) },
	"raced.txt":    func(w io.Writer) error { return WriteSchedule(w, racedSchedule()) },
	"crashed.txt":  func(w io.Writer) error { return WriteCrashes(w, crashedResult()) },
}

func TestExplorationsAreShownAsBefore(t *testing.T) {
	for name, write := range explorations {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		compare(t, name, b.String())
	}
}

func TestThePageSaysTheVerdictBeforeTheCommandBeforeTheCounterexample(t *testing.T) {
	var b bytes.Buffer
	if err := WriteExplorationHTML(&b, racedResult()); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"exit code 1", "1 of 1234 schedules break an invariant", "at-most-once", "a folder/schedule.json", "7 left out as other orders",
		"INSERT INTO idempotency_keys", "waits for request 2, request 1", "✗ this makes it wrong", "id 2, status filled", "<caption>The same as a table", "1,233", "&lt;select&gt;",
	} {
		at := strings.Index(page, want)
		if at < 0 {
			t.Fatalf("%q is not on the page, or comes too early", want)
		}
		page = page[at:]
	}
}

// A drawing's text must be readable whatever a server sends: no two labels over each other, and none beyond the edge.
func TestLabelsOfADrawingNeverOverlap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tale := newTale(presentableAs(anySchedule(rt), spelled))
		for _, d := range []orderDrawing{tale.Wide(), tale.Narrow()} {
			boxes := labelBoxes(d)
			for i, a := range boxes {
				if a.X < 0 || a.X+a.W > d.Width || a.Y < 0 || a.Y+a.H > d.Height {
					rt.Fatalf("%q lies beyond the drawing of %v × %v: %+v", a.Class, d.Width, d.Height, a)
				}
				for _, b := range boxes[:i] {
					if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
						rt.Fatalf("%q lies over %q", a.Class, b.Class)
					}
				}
			}
		}
	})
}

// labelBoxes gives the room that each text takes, with the text as its class.
func labelBoxes(d orderDrawing) (out []area) {
	for _, l := range d.Labels {
		text := l.Head + l.Text
		a := area{X: l.X, Y: l.Y - 11, W: px(textWidth(text)), H: 14, Class: text}
		if l.Anchor == "end" {
			a.X -= a.W
		}
		if text != "" {
			out = append(out, a)
		}
	}
	for _, b := range d.Boxes {
		if w := px(textWidth(b.Number)); b.Number != "" {
			out = append(out, area{X: b.NumberX - w/2, Y: b.NumberY - 11, W: w, H: 14, Class: b.Number})
		}
	}
	return out
}

// anySchedule draws steps that end and wait at will.
func anySchedule(t *rapid.T) *schedule.Schedule {
	s := &schedule.Schedule{Actors: rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "actors")}
	actor := rapid.IntRange(0, len(s.Actors)-1)
	sql := rapid.OneOf(rapid.SampledFrom([]string{lookSQL, claimSQL, actSQL, markupSQL, "", "commit", "SELECT ('"}), rapid.StringMatching(`[a-zA-Z ;,()'"*$\n-]{0,300}`))
	var steps []schedule.Step
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		taken := schedule.Taken{Step: schedule.Step{
			Actor: actor.Draw(t, "actor"), Kind: rapid.SampledFrom([]schedule.Kind{schedule.Statement, schedule.Execute, schedule.Commit}).Draw(t, "kind"), SQL: sql.Draw(t, "sql"),
			Params: rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "params"),
		}}
		steps = append(steps, taken.Step)
		for range rapid.IntRange(0, 3).Draw(t, "events") {
			of := rapid.SampledFrom(steps).Draw(t, "of")
			switch rapid.IntRange(0, 2).Draw(t, "event") {
			case 0:
				taken.Ended = append(taken.Ended, schedule.Ended{Step: of, End: "answered", Tags: rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "tags"), Code: rapid.StringN(0, 9, 9).Draw(t, "code")})
			case 1:
				taken.Blocked = append(taken.Blocked, schedule.Blocked{Step: of, On: rapid.SliceOfN(actor, 0, 3).Draw(t, "on")})
			case 2:
				taken.Answers = append(taken.Answers, schedule.Answer{Actor: of.Actor, Status: rapid.IntRange(0, 999).Draw(t, "status"), Class: rapid.String().Draw(t, "class")})
			}
		}
		s.Steps = append(s.Steps, taken)
	}
	s.Breaks = rapid.IntRange(0, len(s.Steps)).Draw(t, "breaks")
	return s
}

func TestLongSQLIsShortenedToItsVerbsAndTables(t *testing.T) {
	for sql, want := range map[string]string{
		claimSQL: "INSERT INTO idempotency_keys (…) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
		lookSQL:  "SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2)",
		actSQL:   "begin|UPDATE accounts SET cash_balance = cash_balance + $2::numeric WHERE user_id = $1 AND cash_balance + $2::numeric >= 0|INSERT INTO paper_orders (…) VALUES ($1, 'A;B', $3, $4)",
		"WITH found AS (SELECT id, idem_key, request_hash, status FROM keys WHERE id = now()) SELECT * FROM found": "WITH found AS (SELECT … FROM keys WHERE id = now()) SELECT * FROM found",
		"SELECT ')' , \"a;b\" -- why; not\n FROM t; ;":                                                             `SELECT ')' , "a;b" FROM t`,
		"SELECT (((": "SELECT (((",
		"'":          "'",
		"":           "",
	} {
		if got := strings.Join(shortSQL(sql), "|"); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

func TestExplorationPagesOpenWithoutComplaintOrRequestAtEveryWidth(t *testing.T) {
	dir := t.TempDir()
	b := startBrowser(t)
	for name, write := range explorations {
		if filepath.Ext(name) != ".html" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := wholefile.Write(path, write); err != nil {
			t.Fatal(err)
		}
		for _, w := range looks() {
			l := ask[layout](t, b, path, w, measure)
			b.keep(t, strings.TrimSuffix(name, ".html")+"-"+w.name)
			if l.Overflow > 0 || !l.Styled || l.Nameless > 0 || (name == "raced.html") != (l.Charts == 1) {
				t.Errorf("%s in %s: %+v", name, w.name, l)
			}
			if crossed := ask[[]string](t, b, path, w, crossings); len(crossed) > 0 {
				t.Errorf("%s in %s: %q", name, w.name, crossed)
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		t.Errorf("the browser complained: %q", b.complaints)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, "file://"+dir) && r != "data:," {
			t.Errorf("a page asked for %s", r)
		}
	}
}

// crossings finds, as the browser set them, texts of a drawing that lie over one another or beyond its edge.
const crossings = `(() => {
  const out = [];
  for (const svg of document.querySelectorAll('svg[role=img]')) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue;
    const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim()).map(t => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([a, r], i) => {
      if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.bottom > frame.bottom + 1) out.push(a + ' lies beyond the edge');
      for (const [b, q] of texts.slice(0, i)) {
        if (r.left < q.right - 1 && q.left < r.right - 1 && r.top < q.bottom - 3 && q.top < r.bottom - 3) out.push(a + ' lies over ' + b);
      }
    });
  }
  return out;
})()`
