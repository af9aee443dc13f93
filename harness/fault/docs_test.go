package fault

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the table in docs/faults.md anew")

const (
	faultsDoc   = "../../docs/faults.md"
	measuredDoc = "../../docs/recovery.json"
	tableBegins = "<!-- table: written by go test ./harness/fault -run TestTheTableOfFaults -update -->\n"
	tableEnds   = "<!-- end of table -->\n"
)

// A kind that does not say what clients see and what must hold leaves the reader of a report alone with its name.
func TestEveryKindSaysWhatClientsSeeAndWhatMustHold(t *testing.T) {
	for _, k := range Kinds {
		if k.Story == "" || k.Sees == "" || k.Holds == "" {
			t.Errorf("fault kind %q: fill in Story, Sees and Holds of its Kind, then: go test ./harness/fault -run TestTheTableOfFaults -update", k.Name)
		}
	}
}

// recovery is what docs/bench/recovery.sh measured of one kind.
type recovery struct {
	Kind      string        `json:"kind"`
	Faults    int           `json:"faults"`
	Settled   time.Duration `json:"settled_ns"`
	SettledBy time.Duration `json:"settled_worst_ns"`
	Told      int           `json:"told"`
	Errors    time.Duration `json:"errors_ns"`
	ErrorsBy  time.Duration `json:"errors_worst_ns"`
}

func TestTheTableOfFaultsSaysWhatTheKindsSay(t *testing.T) {
	doc, err := os.ReadFile(faultsDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(doc), tableBegins)
	_, tail, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("%s has lost the lines between which the table stands:\n%s%s", faultsDoc, tableBegins, tableEnds)
	}
	want := head + tableBegins + faultsTable(readMeasured(t)) + tableEnds + tail
	if *update {
		if err := os.WriteFile(faultsDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, k := range Kinds {
		if !strings.Contains(rest, "\n| `"+k.Name+"` ") {
			t.Errorf("docs/faults.md lacks fault kind %q; go test ./harness/fault -run TestTheTableOfFaults -update writes it", k.Name)
		}
	}
	if string(doc) != want && !t.Failed() {
		t.Error("docs/faults.md is not what the kinds say; go test ./harness/fault -run TestTheTableOfFaults -update writes it")
	}
}

func readMeasured(t *testing.T) map[string]recovery {
	t.Helper()
	data, err := os.ReadFile(measuredDoc)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list []recovery
	if err := errors.Join(err, json.Unmarshal(data, &list)); err != nil {
		t.Fatalf("read %s: %v", measuredDoc, err)
	}
	found := map[string]recovery{}
	for _, r := range list {
		found[r.Kind] = r
	}
	return found
}

func faultsTable(found map[string]recovery) string {
	var b strings.Builder
	b.WriteString("\n| fault | strikes | what it does | what the client may see | what must hold | keys settled within | errors over within | measured |\n" +
		"|---|---|---|---|---|--:|--:|--:|\n")
	for _, k := range Kinds {
		var on []string
		for _, target := range k.On {
			on = append(on, string(target))
		}
		settled, over, times := found[k.Name].cells()
		cells := []string{"`" + k.Name + "`", strings.Join(on, ", "), k.Story, k.Sees, k.Holds, settled, over, times}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("\n")
	return b.String()
}

// cells are dashes for what nobody has measured.
func (r recovery) cells() (settled, over, times string) {
	if r.Faults == 0 {
		return "–", "–", "–"
	}
	over = "–"
	if r.Told > 0 {
		over = spread(r.Errors, r.ErrorsBy)
	}
	return spread(r.Settled, r.SettledBy), over, fmt.Sprintf("%d ×", r.Faults)
}

// spread is a median with the worst behind it, to ten milliseconds.
func spread(median, worst time.Duration) string {
	short := func(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
	return short(median) + " (" + short(worst) + ")"
}
