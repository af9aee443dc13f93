package plan

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

func rude() Phase {
	return Phase{
		Name: "rude", Shape: "race", Keys: 4000, Impatient: 0.2, GiveUp: Duration(time.Second),
		Manners: Manners{CutBody: 0.25, SlowBody: SlowBody{Share: 0.25, Over: Duration(time.Second)}, Twin: 0.25},
	}
}

// mannersOf counts an operation's manners.
func mannersOf(o history.Operation) (n int) {
	for _, has := range []bool{o.GiveUpNS > 0, o.CutBody > 0, o.SlowNS > 0, o.Twin} {
		if has {
			n++
		}
	}
	return n
}

func TestEachShareOfOperationsHasItsMannerAndOneOnly(t *testing.T) {
	var cut, slow, twin, inOrder int
	for _, o := range build(t, input(1, rude())) {
		switch {
		case mannersOf(o) > 1:
			t.Fatalf("several manners: %+v", o)
		case o.CutBody > 0:
			cut++
		case o.SlowNS == int64(time.Second):
			slow++
		case o.Twin:
			twin++
		case o.GiveUpNS == 0:
			inOrder++
		}
	}
	for name, n := range map[string]int{"cut": cut, "slow": slow, "twin": twin, "in order": inOrder} {
		if n < 700 || n > 900 { // a quarter of the four fifths that do not give up
			t.Errorf("%d operations of 4000 are %s", n, name)
		}
	}
}

// A cut that leaves whole JSON is the one that a server falls for; one that leaves nothing, or half of it, is refused by any parser.
func TestACutBodyLacksItsEndAndIsOftenStillWholeJSON(t *testing.T) {
	whole, broken := 0, 0
	for _, o := range build(t, input(1, rude())) {
		if !bytes.HasSuffix(o.Body, []byte("}\n")) {
			t.Fatalf("operation %d has the body %q", o.ID, o.Body)
		}
		if o.CutBody < 0 || o.CutBody > int64(len(o.Body)) {
			t.Fatalf("operation %d lacks %d of %d bytes", o.ID, o.CutBody, len(o.Body))
		}
		if arrives := o.Body[:int64(len(o.Body))-o.CutBody]; o.CutBody > 0 && json.Valid(arrives) {
			whole++
		} else if o.CutBody > 0 {
			broken++
		}
	}
	if whole < 300 || broken < 300 {
		t.Errorf("%d cut bodies are whole JSON, %d are not", whole, broken)
	}
}

func TestWhoSendsAgainHasTheSameBytesAndMannersOfTheirOwn(t *testing.T) {
	again := Phase{Name: "again", Shape: "again", Of: "rude"}
	first := map[string]string{}
	for _, o := range build(t, input(1, rude(), again)) {
		switch {
		case o.Phase == "rude":
			first[o.Key] = string(o.Body)
		case first[o.Key] != string(o.Body) || mannersOf(o) != 0:
			t.Fatalf("%+v", o)
		}
	}
}
