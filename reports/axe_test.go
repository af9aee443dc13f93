package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// axeFile is where docs/scripts/need-axe puts the accessibility engine.
var axeFile = filepath.Join("..", "bin", "axe", "axe.min.js")

// barrier is one finding of axe: what keeps some people from using the page, and where.
type barrier struct {
	Rule, Impact, Help string
	Places             []string
}

// audit runs axe in the page that is open. Its rules for WCAG 2 A and AA and its best practices are asked; closed details are opened first, since what
// they hold is part of the page.
const audit = `(async () => {
  document.querySelectorAll('details').forEach(d => d.open = true);
  const found = await axe.run(document, {resultTypes: ['violations']});
  return found.violations.map(v => ({Rule: v.id, Impact: v.impact, Help: v.help, Places: v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + (n.any[0] ? n.any[0].message : ''))}));
})()`

func axeSource(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(axeFile)
	if err != nil {
		t.Fatalf("axe-core is missing; bash docs/scripts/need-axe fetches it: %v", err)
	}
	return string(source)
}

// audited opens a page in a window and gives what axe finds in it.
func audited(t *testing.T, b *browser, axe, page string, w window) []barrier {
	t.Helper()
	ask[int](t, b, page, w, axe+"\n;0")
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]barrier](audit, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("run axe on %s: %v", page, err)
	}
	return found
}

func TestAxeFindsNothingSeriousOrCriticalInAnyPageAndScheme(t *testing.T) {
	axe, dir := axeSource(t), t.TempDir()
	b := startBrowser(t)
	for name, looks := range map[string][]window{
		"violated": {{"wide", 1440, "light"}, {"phone", 390, "dark"}},
		"clean":    {{"wide", 1440, "dark"}, {"phone", 390, "light"}},
		"outage":   {{"wide", 1440, "dark"}},
		"lossy":    {{"phone", 390, "light"}},
	} {
		if err := Save(filepath.Join(dir, name), samples()[name]); err != nil {
			t.Fatal(err)
		}
		for _, w := range looks {
			unhindered(t, b, axe, filepath.Join(dir, name, HTMLFile), w)
		}
	}
}

// unhindered fails for what is serious or critical, and notes the rest.
func unhindered(t *testing.T, b *browser, axe, page string, w window) {
	t.Helper()
	for _, found := range audited(t, b, axe, page, w) {
		report := fmt.Sprintf("%s, %s %s: %s (%s): %s\n  %s", page, w.name, w.scheme, found.Rule, found.Impact, found.Help, strings.Join(found.Places, "\n  "))
		if slices.Contains([]string{"serious", "critical"}, found.Impact) {
			t.Error(report)
		} else {
			t.Log(report)
		}
	}
}
