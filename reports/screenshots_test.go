package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// screenshot is one picture in docs: what page it is of, and in which window it was taken.
type screenshot struct {
	file          string
	width, height int64
	scheme        string
	write         func(io.Writer) error
}

var inDocs = []screenshot{
	{"report.png", 1200, 1320, "light", func(w io.Writer) error { return WriteHTML(w, violatedRun()) }},
	{"report-phone.png", 390, 900, "dark", func(w io.Writer) error { return WriteHTML(w, violatedRun()) }},
	{"compare.png", 1200, 900, "light", func(w io.Writer) error { return WriteComparison(w, []verdict.Comparison{sampleComparison()}) }},
	{"index.png", 1200, 900, "dark", func(w io.Writer) error { return WriteOverview(w, sampleFound()) }},
}

// takenFrom holds, beside the pictures, the SHA-256 of the page that each was taken of. Pixels are not compared: another browser's fonts are no news.
var takenFrom = filepath.Join("..", "docs", "screenshots.json")

func TestTheScreenshotsInDocsAreOfThePagesAsTheyAre(t *testing.T) {
	docs := filepath.Dir(takenFrom)
	pages := map[string]string{}
	for _, s := range inDocs {
		var page bytes.Buffer
		if err := s.write(&page); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(page.Bytes())
		pages[s.file] = hex.EncodeToString(sum[:])
		if *update {
			s.take(t, page.Bytes(), filepath.Join(docs, s.file))
		}
	}
	if *update {
		if err := wholefile.WriteJSON(takenFrom, pages, "  "); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(takenFrom)
	if err != nil {
		t.Fatal(err)
	}
	var taken map[string]string
	if err := json.Unmarshal(data, &taken); err != nil {
		t.Fatal(err)
	}
	for file, sum := range pages {
		if _, err := os.Stat(filepath.Join(docs, file)); err != nil || taken[file] != sum {
			t.Errorf("docs/%s is not of the page as it is (%v): go test ./reports -run Screenshots -update takes it again", file, err)
		}
	}
}

// take opens the page and writes what its first screen looks like.
func (s screenshot) take(t *testing.T, page []byte, path string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	ask[int](t, b, file, window{s.file, s.width, s.scheme}, "0")
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(s.width, s.height)); err != nil {
		t.Fatal(err)
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatalf("take docs/%s: %v", s.file, err)
	}
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		t.Fatal(err)
	}
}
