package reports

import (
	"fmt"
	"io"
	"net/url"
	"path"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Entry is one run of an index: its directory as a slash-separated path from the index, and what came of it.
type Entry struct {
	Dir string
	Run verdict.Run
}

// indexPage is the model of index.html.
type indexPage struct {
	sheet
	Exit                           int
	Word, Glyph, Meaning, Sentence string
	Items                          []indexItem
}

type indexItem struct {
	Run          verdict.Run
	Lead         lead
	Link         string
	Held, Judged int
	P99          []string
}

// WriteIndex writes a page over several runs: the gravest verdict first, what broke where, and a table with a link to each.
func WriteIndex(w io.Writer, entries []Entry) error {
	var items []indexItem
	var verdicts []verdict.Verdict
	passed := 0
	for _, e := range entries {
		item := newIndexItem(e)
		items = append(items, item)
		verdicts = append(verdicts, e.Run.Verdict)
		if item.Lead.Exit == verdict.ExitHeld {
			passed++
		}
	}
	exit := verdict.Exit(verdicts)
	p := indexPage{
		Exit: exit, Word: exitWords[exit], Glyph: exitGlyphs[exit], Meaning: exitMeanings[exit], Items: items,
		Sentence: fmt.Sprintf("%d of %s passed", passed, plural(int64(len(entries)), "run", "runs")),
	}
	p.sheet = newSheet(p.Sentence + " – Idemstorm")
	if err := pages.ExecuteTemplate(w, "index", p); err != nil {
		return fmt.Errorf("write HTML index: %w", err)
	}
	return nil
}

// newIndexItem counts an inconclusive invariant among those that should have been judged, and not among those that held.
func newIndexItem(e Entry) indexItem {
	r := presentable(e.Run)
	link := url.URL{Path: path.Join(e.Dir, HTMLFile)}
	item := indexItem{Run: r, Lead: newLead(r), Link: link.EscapedPath()}
	for _, f := range r.Verdict.Findings {
		switch f.Status {
		case verdict.Held:
			item.Held++
			item.Judged++
		case verdict.Violated, verdict.Inconclusive:
			item.Judged++
		}
	}
	for _, s := range r.Latency {
		if k := quantile(s, 0.99); s.Kind == latency.Response && k.Known {
			item.P99 = append(item.P99, s.Group+" "+duration(k.Value))
		}
	}
	return item
}
