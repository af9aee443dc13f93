package evidence

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/history"
)

// some are texts that rows may hold, the awkward ones among them.
var some = rapid.SampledFrom([]string{"", "a", "0b9f4a86-2f3e-4a55-9f4e-0a3f2f1f3c11", `{"a":"b\"c\\"}`, "ü€😀", "\x00\x1f\u2028<&>", `\`, `"`, "}],{", "\xff"})

var numbers = rapid.SampledFrom([]int64{0, 1, -1, 42, 1 << 40, -1 << 62, 1<<63 - 1})

var rowsOfAnyKind = rapid.Custom(func(t *rapid.T) Set {
	text := func() string { return some.Draw(t, "text") }
	number := func() int64 { return numbers.Draw(t, "number") }
	audit := rapid.Custom(func(*rapid.T) Audit {
		return Audit{ID: text(), Execution: text(), User: number(), Endpoint: text(), Key: text(), Operation: number(), Action: text(), Hash: text(), Code: int(number()), At: text()}
	})
	set := Set{Schema: Schema, Scanned: number(), Counters: map[string]float64{text(): 1.5}}
	set.Opening = []Account{{User: number(), Positions: map[string]int64{text(): number()}}}
	set.Audits = rapid.SliceOfN(audit, 0, 200).Draw(t, "audits")
	set.Replays = rapid.SliceOf(audit).Draw(t, "replays")
	set.Orders = rapid.SliceOf(rapid.Custom(func(*rapid.T) Order {
		return Order{ID: text(), Execution: text(), Leg: int(number()), User: number(), Endpoint: text(), Key: text(), Operation: number(), Symbol: text(), Side: text(), Quantity: number(), AmountCents: number(), Status: text(), At: text()}
	})).Draw(t, "orders")
	set.Records = rapid.SliceOf(rapid.Custom(func(*rapid.T) Record {
		return Record{ID: text(), Key: text(), User: number(), Endpoint: text(), Hash: text(), Status: text(), Code: int(number()), Body: text(), CreatedUS: number(), LockedUS: number(), ExpiresUS: number()}
	})).Draw(t, "records")
	set.Secrets = []history.Row{{Table: text(), Fields: map[string]string{text(): text()}}}
	set.Charges = []Charge{{ID: text(), User: number()}}
	return set
})

// What Save writes is understood row by row, and means what encoding/json makes of it.
func TestWhatIsSavedIsReadAsEncodingJSONWould(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "evidence.json")
		if err := Save(path, rowsOfAnyKind.Draw(t, "set")); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sameAsEncodingJSON(t, b, true)
	})
}

type fataler interface{ Fatalf(string, ...any) }

func sameAsEncodingJSON(t fataler, b []byte, must bool) {
	fast, ok := readStream(bytes.NewReader(b), nil)
	if !ok {
		if must {
			t.Fatalf("not understood: %s", b)
		}
		return
	}
	var slow Set
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&slow); err != nil {
		t.Fatalf("accepted what encoding/json refuses: %v", err)
	}
	if diff := cmp.Diff(slow, fast); diff != "" {
		t.Fatalf("%s", diff)
	}
	packed := new(Replays)
	switch fast, ok = readStream(bytes.NewReader(b), packed); {
	case !ok && !must: // a member of another spelling than Save's is left to encoding/json
		return
	case !ok || (fast.Replays == nil) != (slow.Replays == nil) || len(fast.Replays) > 0:
		t.Fatalf("packed: understood %t, %d replays left", ok, len(fast.Replays))
	}
	sameReplays(t, slow.Replays, packed)
}

func sameReplays(t fataler, want []Audit, packed *Replays) {
	if packed.Len() != len(want) {
		t.Fatalf("%d of %d replays", packed.Len(), len(want))
	}
	for i := range want {
		if got := packed.At(i); got != want[i] {
			t.Fatalf("replay %d: %+v, want %+v", i, got, want[i])
		}
		if place, common := packed.Common(i); place >= packed.Shared() || common.Key != want[i].Key || common.Code != want[i].Code || packed.Operation(i) != want[i].Operation {
			t.Fatalf("replay %d shares %+v at %d, want %+v", i, common, place, want[i])
		}
	}
}

// Several blocks of rows, and several rows that share what they have, in turn.
func TestPackedReplaysAreTheRowsThatWerePacked(t *testing.T) {
	var rows []Audit
	for i := range 3*replayBlockRows + 7 {
		a := Audit{ID: strconv.Itoa(i), User: int64(i % 3), Endpoint: "POST /o", Key: "k" + strconv.Itoa(i%5), Operation: int64(i), Code: 200 + i%2, At: strings.Repeat("t", i%9)}
		rows = append(rows, a)
	}
	packed := PackReplays(rows)
	sameReplays(t, rows, packed)
	if packed.Shared() != 30 {
		t.Errorf("%d different ones are kept, of 30", packed.Shared())
	}
	if PackReplays(nil) != nil || PackReplays(nil).Len() != 0 || PackReplays([]Audit{}) == nil {
		t.Error("no rows and no list of rows are the same")
	}
}

func FuzzStreamAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{"schema":1,"orders":[{"id":"1","leg":1,"key":"k"}],"audits":null,"replays":[],"records":[{"body":"{\"a\":1}"}]}`,
		`{"orders":[{"id":"1"},{"ID":"2","id":null}]}`, `{"orders":[{}]}`, `{"orders":[{"id":"1",}]}`, `{"orders":[[{}]]}`, `{}`, `{"a":1,"a":2}`,
		`{"scanned":12}`, `{"scanned":01}`, ` { "orders" : [ { "id" : "\u00e9" } ] } `, `{"audits":[{"code":1.0}]}`, `{"Orders":[{"id":"1"}]}`, `{"Replays":[{"id":"1"}]}`, "[]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameAsEncodingJSON(t, b, false) })
}

func TestRowLongerThanTheBufferIsReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evidence.json")
	long := strings.Repeat(`{"a":"`, 1<<18)
	saved := Set{Records: []Record{{ID: "1", Body: long}, {ID: "2"}}}
	if err := Save(path, saved); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || len(got.Records) != 2 || got.Records[0].Body != long {
		t.Fatalf("%d records, %v", len(got.Records), err)
	}
}
