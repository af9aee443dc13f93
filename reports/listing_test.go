package reports

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAListingKeepsToItsWidthAndLosesNoWord(t *testing.T) {
	entries := []Listed{
		{[]string{"duplicate-key-race", "quick,race,full"}, strings.Repeat("some words of a summary ", 8)},
		{[]string{"é", ""}, "short"},
		{[]string{"none", "x"}, ""},
	}
	for _, width := range []int{40, 60, 100, 160} {
		var b strings.Builder
		if err := WriteListing(&b, Terminal{Width: width}, entries); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
		if n := strings.Count(strings.Join(strings.Fields(b.String()), " "), "some words of a summary"); n != 8 {
			t.Errorf("at %d columns %d of 8 are left", width, n)
		}
	}
	var b strings.Builder
	if err := WriteListing(&b, Terminal{}, entries); err != nil || strings.Count(b.String(), "\n") != 3 {
		t.Errorf("without a width there are other than 3 lines (%v):\n%s", err, b.String())
	}
}
