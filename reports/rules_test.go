package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestARunSurvivesItsFile(t *testing.T) {
	for name, run := range samples() {
		dir := t.TempDir()
		if err := verdict.Save(dir, run); err != nil {
			t.Fatal(err)
		}
		got, err := verdict.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		// JSON holds text: bytes that are not UTF-8 become the replacement character, and nothing else changes.
		want := run
		want.Schema, want.Seal = verdict.RunSchema, got.Seal
		valid := cmp.Transformer("valid", func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") })
		if d := cmp.Diff(want, got, cmp.FilterValues(func(a, b string) bool { return !utf8.ValidString(a) || !utf8.ValidString(b) }, valid)); d != "" && name != "nasty" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("temporary files left: %q", left)
		}
	}
}

func TestADamagedOrNewerRunFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, verdict.File)
	if err := verdict.Save(dir, violatedRun()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty":     nil,
		"truncated": whole[:len(whole)/2],
		"other":     []byte("{}"),
		"newer":     []byte(`{"schema": 999}`),
		"trailing":  append(bytes.Clone(whole), "{}"...),
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := verdict.Load(dir); err == nil {
			t.Errorf("%s: read without an error", name)
		}
	}
	if _, err := verdict.Load(t.TempDir()); err == nil {
		t.Error("an absent file was read")
	}
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := wholefile.Write(path, func(w io.Writer) error {
		_, _ = w.Write([]byte("ne"))
		return io.ErrShortWrite
	})
	if got, _ := os.ReadFile(path); err == nil || string(got) != "old" {
		t.Fatalf("error %v, file %q", err, got)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Fatalf("files left: %v", left)
	}
}

// junit is the least that a reader of JUnit files needs, declared apart from the writer.
type junit struct {
	Suites []struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *string   `xml:"failure"`
			Error   *string   `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestJUnitPassesExactlyWhenTheRunPassed(t *testing.T) {
	for name, run := range samples() {
		var got junit
		if err := xml.Unmarshal([]byte(rendered(t, ".junit.xml", run)), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := got.Suites[0]
		bad, skipped := 0, 0
		for _, c := range s.Cases {
			if c.Failure != nil || c.Error != nil {
				bad++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
		if passed := bad == 0; passed != (run.Verdict.Exit() == verdict.ExitHeld) {
			t.Errorf("%s: exit %d, but %d bad cases", name, run.Verdict.Exit(), bad)
		}
		if s.Tests != len(s.Cases) || s.Failures+s.Errors != bad || s.Skipped != skipped {
			t.Errorf("%s: totals %+v do not count the cases", name, s)
		}
		if want := 1 + len(run.Verdict.Findings) + len(run.Verdict.Gates); s.Tests != want {
			t.Errorf("%s: %d cases, want %d", name, s.Tests, want)
		}
	}
}

func TestNothingInconclusiveIsEverShownAsPassed(t *testing.T) {
	for _, name := range []string{"inconclusive", "interrupted", "empty"} {
		run := samples()[name]
		for format := range formats {
			text := strings.ToLower(strings.Replace(rendered(t, format, run), string(stylesheet), "", 1))
			if format != ".junit.xml" && !strings.Contains(text, "inconclusive") {
				t.Errorf("%s%s does not say inconclusive", name, format)
			}
			if strings.Contains(text, "every judged invariant held and every gate") {
				t.Errorf("%s%s says passed", name, format)
			}
		}
	}
}

func TestNoFormatLetsControlCharactersOrMarkupThrough(t *testing.T) {
	for format := range formats {
		text := rendered(t, format, nastyRun())
		if format == ".color.txt" {
			text = strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[1;31m", "", "\x1b[32m", "", "\x1b[1;33m", "").Replace(text)
		}
		for _, forbidden := range []string{"\x00", "\x07", "\x1b", "\r", "\u202e", "\ufeff", "\xff"} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s holds %q", format, forbidden)
			}
		}
		if format == ".html" && (strings.Contains(text, "<script") || strings.Contains(text, `href="javascript`)) {
			t.Errorf("%s holds a script", format)
		}
	}
}

func TestNoTerminalLineIsWiderThanTheTerminal(t *testing.T) {
	for name, run := range samples() {
		for _, width := range []int{40, 72, 100, 132} {
			var b bytes.Buffer
			if err := WriteTerminal(&b, Terminal{Width: width}, run, run); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				wide := utf8.RuneCountInString(strings.TrimRight(line, "\n")) > width
				if isCommand := strings.HasSuffix(line, "\\\n") || name == "nasty"; wide && !isCommand {
					t.Errorf("%s at %d: %q", name, width, line)
				}
			}
		}
	}
}

func TestColourFollowsTheTerminalAndItsWishes(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	env := map[string]string{"COLUMNS": "77"}
	got := DetectTerminal(file, func(k string) string { return env[k] })
	if got.Color || got.Width != 77 {
		t.Errorf("a plain file is taken for %+v", got)
	}
}

func TestACommandThatIsBrokenOverLinesStillRuns(t *testing.T) {
	p := &printer{width: 40}
	p.command("  reproduce: ", `idemstorm run 'two words' --dsn "a  b" --out /tmp/\ x --seed 18446744073709551615`)
	joined := strings.Join(strings.Fields(strings.ReplaceAll(p.text.String(), "\\\n", "")), " ")
	want := `reproduce: idemstorm run 'two words' --dsn "a b" --out /tmp/\ x --seed 18446744073709551615`
	if joined != want {
		t.Errorf("got  %s\nwant %s", joined, want)
	}
	for _, quoted := range []string{`'two words'`, `"a  b"`, `/tmp/\ x`} {
		if !strings.Contains(p.text.String(), quoted) {
			t.Errorf("%s was broken: %s", quoted, p.text.String())
		}
	}
}

func TestMarkdownStaysWithin64KBAndSaysWhereItWasCut(t *testing.T) {
	big := bigRun()
	runs := make([]verdict.Run, 40)
	for i := range runs {
		runs[i] = big
	}
	for _, n := range []int{1, 40} {
		var b bytes.Buffer
		if err := WriteMarkdown(&b, runs[:n]...); err != nil {
			t.Fatal(err)
		}
		if b.Len() > 64<<10 {
			t.Errorf("%d runs: %d bytes", n, b.Len())
		}
		if n == 40 && !strings.HasSuffix(b.String(), cutNotice) {
			t.Error("cut without a word about it")
		}
		if !strings.Contains(b.String(), sampleKey) {
			t.Error("the key is lost")
		}
	}
}

func TestALongCounterexampleIsCutAndSaysSo(t *testing.T) {
	r := presentable(bigRun())
	f := r.Verdict.Findings[0]
	e := newExample(r, f, f.Violations[0])
	if len(e.Attempts) != mostAttempts || e.More != 200-mostAttempts {
		t.Errorf("%d attempts, %d more", len(e.Attempts), e.More)
	}
	if l := e.Wide(); len(l.Lanes) != mostLanes || l.Undrawn != mostAttempts-mostLanes {
		t.Errorf("%d lanes, %d undrawn", len(l.Lanes), l.Undrawn)
	}
	if html := rendered(t, ".html", bigRun()); !strings.Contains(html, "140 more attempts are not listed") {
		t.Error("the page does not say that attempts are missing")
	}
}

func TestPresentableLeavesTheRunAlone(t *testing.T) {
	run, same := nastyRun(), nastyRun()
	presentable(run)
	if d := cmp.Diff(same, run); d != "" {
		t.Errorf("changed:\n%s", d)
	}
}

func TestAFaultLastsFromBeganToHealed(t *testing.T) {
	got := spans([]history.Fault{
		{ID: 1, Name: "a", Phase: history.FaultBegan, AtNS: 5},
		{ID: 2, Name: "b", Phase: history.FaultBegan, AtNS: 6},
		{ID: 1, Phase: history.FaultHealing, AtNS: 7},
		{ID: 1, Phase: history.FaultHealed, AtNS: 9},
		{ID: 3, Phase: history.FaultHealed, AtNS: 9},
	})
	if len(got) != 2 || got[0].UntilNS != 9 || got[0].Open || !got[1].Open {
		t.Errorf("%+v", got)
	}
}

func TestDurationsHaveAboutThreeDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 850: "850 ns", 1500: "1.50 µs", 123456: "123 µs", 12345678: "12.3 ms", 1234567890: "1.23 s",
		125 * time.Second: "2m5s", -5 * time.Millisecond: "-5.00 ms", 9_999_000: "10.0 ms",
	} {
		if got := duration(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}

func TestEverySavedFileStandsInItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := Save(dir, violatedRun()); err != nil {
		t.Fatal(err)
	}
	if err := SaveIndex(filepath.Dir(dir), []Entry{{"b", violatedRun()}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b/" + verdict.File, "b/" + HTMLFile, "b/" + JUnitFile, "b/" + MarkdownFile, IndexFile, JUnitFile, MarkdownFile} {
		if info, err := os.Stat(filepath.Join(filepath.Dir(dir), name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzEveryFormatTakesAnyRun: whatever a run.json says, it is shown or refused, and the XML parses.
func FuzzEveryFormatTakesAnyRun(f *testing.F) {
	for _, run := range samples() {
		b, err := json.Marshal(run)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var run verdict.Run
		if json.Unmarshal(b, &run) != nil {
			return
		}
		for format := range formats {
			text := rendered(t, format, run)
			if format == ".junit.xml" {
				if err := xml.Unmarshal([]byte(text), &junit{}); err != nil {
					t.Fatal(err)
				}
			}
			if !utf8.ValidString(text) {
				t.Fatalf("%s is not UTF-8", format)
			}
		}
	})
}
