package reports

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// screenshots, when set, is a folder that the browser tests leave pictures of the pages in.
const screenshots = "IDEMSTORM_SCREENSHOTS"

// window is one way in which people look at a page.
type window struct {
	name   string
	width  int64
	scheme string
}

var windows = []window{{"wide-light", 1440, "light"}, {"phone-dark", 390, "dark"}, {"wide-dark", 1440, "dark"}, {"phone-light", 390, "light"}}

// looks are the windows to try: all for pictures, and without them one of each width and scheme.
func looks() []window {
	if os.Getenv(screenshots) == "" {
		return windows[:2]
	}
	return windows
}

// browser starts one headless browser for a test and records what its pages complain about and ask for.
type browser struct {
	ctx        context.Context
	mu         sync.Mutex
	complaints []string
	requests   []string
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancelAllocator)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	t.Cleanup(cancelBrowser)
	b := &browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.record); err != nil {
		t.Fatalf("start chromium (it must be installed): %v", err)
	}
	_, logErr := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	_, networkErr := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	_, runtimeErr := chromedp.Call(ctx, runtime.Enable, cdp.Empty{})
	if err := errors.Join(logErr, networkErr, runtimeErr); err != nil {
		t.Fatalf("listen to chromium: %v", err)
	}
	return b
}

func (b *browser) record(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, "console "+e.Type.String())
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// ask loads a page in a window with its scripts off, and asks it what the page itself could not say.
func ask[T any](t *testing.T, b *browser, page string, w window, script string) T {
	t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: w.scheme}}
	_, mediaErr := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	b.scripts(t, false)
	loadErr := chromedp.Do(b.ctx, chromedp.EmulateViewport(w.width, 900), chromedp.Navigate((&url.URL{Scheme: "file", Path: page}).String()))
	b.scripts(t, true)
	answer, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err := errors.Join(mediaErr, loadErr, err); err != nil {
		t.Fatalf("open %s: %v", page, err)
	}
	return answer
}

func (b *browser) scripts(t *testing.T, on bool) {
	t.Helper()
	params := emulation.SetScriptExecutionDisabledParams{Value: !on}
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, params); err != nil {
		t.Fatalf("switch scripts: %v", err)
	}
}

// keep leaves a picture of the page that is open, where pictures are wanted.
func (b *browser) keep(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		t.Fatalf("picture %s: %v", name, err)
	}
}

// layout is what a page looks like to its reader.
type layout struct {
	Overflow   int    // pixels that the page is wider than its window
	Styled     bool   // the style passed the policy
	FirstLines string // text within the first 900 pixels
	Charts     int    // drawings that are shown
	Nameless   int    // shown drawings and scroll regions without a text alternative
}

const measure = `(() => {
  const shown = [...document.querySelectorAll('svg[role=img]')].filter(s => s.getBoundingClientRect().width > 0);
  const regions = [...document.querySelectorAll('.scroll')];
  const first = [...document.querySelectorAll('h1, p, li, code, dd, span')].filter(e => e.getBoundingClientRect().bottom < 900);
  return {
    Overflow: document.documentElement.scrollWidth - window.innerWidth,
    Styled: getComputedStyle(document.querySelector('.verdict')).borderLeftStyle === 'solid',
    FirstLines: first.map(e => e.textContent).join('\n'),
    Charts: shown.length,
    Nameless: shown.concat(regions).filter(e => !e.getAttribute('aria-label')).length + regions.filter(e => e.tabIndex !== 0).length,
  };
})()`

func TestPagesOpenWithoutComplaintOrRequestAtEveryWidth(t *testing.T) {
	dir := t.TempDir()
	b := startBrowser(t)
	for _, name := range []string{"clean", "violated", "outage", "nasty"} {
		if err := Save(filepath.Join(dir, name), samples()[name]); err != nil {
			t.Fatal(err)
		}
		for _, w := range looks() {
			l := ask[layout](t, b, filepath.Join(dir, name, HTMLFile), w, measure)
			b.keep(t, name+"-"+w.name)
			if l.Overflow > 0 || !l.Styled || l.Charts < 2 || l.Nameless > 0 {
				t.Errorf("%s in %s: %+v", name, w.name, l)
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

func TestTheFirstScreenSaysWhatBrokeForWhichKeyAndHowToReproduceIt(t *testing.T) {
	dir := t.TempDir()
	run := violatedRun()
	if err := Save(dir, run); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	for _, w := range looks() {
		l := ask[layout](t, b, filepath.Join(dir, HTMLFile), w, measure)
		for _, want := range []string{"violated", "exit code 1", "at-most-once", sampleKey, "executed twice", run.Reproduce, "42"} {
			if !strings.Contains(l.FirstLines, want) {
				t.Errorf("the first screen in %s lacks %q:\n%s", w.name, want, l.FirstLines)
			}
		}
	}
}

func TestAnIndexOpensAndLinksToEveryRun(t *testing.T) {
	dir := t.TempDir()
	entries := []Entry{{Dir: "1-race", Run: violatedRun()}, {Dir: "2 gate #%", Run: gateRun()}, {Dir: "3-clean", Run: cleanRun()}}
	for _, e := range entries {
		if err := Save(filepath.Join(dir, e.Dir), e.Run); err != nil {
			t.Fatal(err)
		}
	}
	if err := SaveIndex(dir, entries); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	for _, w := range looks() {
		links := ask[[]string](t, b, filepath.Join(dir, IndexFile), w, `[...document.querySelectorAll('tbody a')].map(a => decodeURIComponent(a.pathname))`)
		b.keep(t, "index-"+w.name)
		for i, e := range entries {
			if want := filepath.Join(dir, e.Dir, HTMLFile); len(links) != len(entries) || links[i] != want {
				t.Fatalf("links %q, want %s", links, want)
			}
		}
	}
}
