package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// lossyRun held, and lost what its scenario allows.
func lossyRun(n int) verdict.Run {
	r := cleanRun()
	r.Scenario, r.Verdict.Scenario = "failover-async", "failover-async"
	r.Summary = "The database is killed during traffic and its asynchronous standby takes over."
	r.Verdict.Losses = &verdict.Losses{Stated: "what is acknowledged up to 2.5s before the failover strikes may be lost", Fault: 1}
	for i := range int64(n) {
		r.Verdict.Losses.Orders = append(r.Verdict.Losses.Orders, verdict.Lost{
			Key: fmt.Sprintf("2608d5cf-4a66-4fef-8e32-7f50053a5e%02x", i%256), User: 30 + i%60, Endpoint: "POST /api/trading/positions/{id}/close",
			Order: fmt.Sprint(160 + i), Attempt: history.Ref{Op: 231 + i, N: 1}, AckedNS: ms(3300.5) + i*ms(7), BeforeNS: ms(500) - i*ms(7), Again: i%2 == 0,
		})
	}
	if n > 1 {
		r.Verdict.Losses.Orders[1].Key = ""
	}
	return r
}

func TestEveryFormatShowsWhatWasAcknowledgedAndLost(t *testing.T) {
	for format := range formats {
		text := rendered(t, format, lossyRun(3))
		wanted := []string{"as stated: 3", "Acknowledged and lost: 3", "2608d5cf", "160", "500 ms"}
		switch format {
		case ".junit.xml": // properties have room for the number
			wanted = []string{`name="acknowledged and lost" value="3"`}
		case ".color.txt": // narrow
			wanted = wanted[:2]
		}
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", format, want)
			}
		}
	}
}

func TestALossOfNothingIsSaid(t *testing.T) {
	for _, format := range []string{".html", ".md", ".txt"} {
		if text := rendered(t, format, lossyRun(0)); !strings.Contains(text, "Acknowledged and lost: 0") {
			t.Errorf("%s does not say it", format)
		}
		if text := rendered(t, format, cleanRun()); strings.Contains(text, "Acknowledged and lost") {
			t.Errorf("%s speaks of a loss that is not stated", format)
		}
	}
}

func TestALongListOfLossesIsCutAndSaysSo(t *testing.T) {
	for format, most := range map[string]int{".txt": mostLostTerminal, ".md": mostLostMarkdown, ".html": mostLostHTML} {
		text := rendered(t, format, lossyRun(1500))
		if want := count(int64(1500-most)) + " more"; !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", format, want)
		}
		if !strings.Contains(text, "Acknowledged and lost: 1,500") {
			t.Errorf("%s does not say how many there are", format)
		}
	}
}

func TestNoLineOfTheLossesIsWiderThanTheTerminal(t *testing.T) {
	for _, width := range []int{60, 100, 140} {
		var b strings.Builder
		if err := WriteTerminal(&b, Terminal{Width: width}, lossyRun(30)); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("%d columns in %d: %s", n, width, line)
			}
		}
	}
}
