package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
)

var fuzzLines = []string{
	`{"attempt":{"op":1,"n":1,"replica":1,"intended_ns":1,"sent_ns":2,"done_ns":3,"outcome":"returned","status":200,"body":"{\"a\":1}\u0001\n"}}`,
	`{"attempt":{"op":-1,"n":01,"outcome":"lost","body_b64":"/w=="}}`,
	`{"attempt":{"marked":true,"body":"\ud83d\ude00é","body":null}}`,
	`{"attempt":{"op":1,"n":1,"done_ns":9,"last_byte_ns":8,"outcome":"cut","cause":"gave_up","bytes_sent":311}}`,
	`{"fault":{"id":1,"name":"x","phase":"began"}}`,
	`{"note":{"at_ns":1,"kind":"phase","text":"x"},"fault":{}}`,
	`{"attempt":{"op":999999999999999999999}}`,
	`{"attempt":{}}`, `{}`, ``, `null`, `{"idemstorm":"end","lines":1}`,
}

// The hand-written decoder must never differ from encoding/json where it accepts a line.
func FuzzTheFastDecoderAgreesWithEncodingJSON(f *testing.F) {
	for _, l := range fuzzLines {
		f.Add([]byte(l))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		fast, ok := scanAttemptEvent(&scanner{b: line})
		if !ok {
			return
		}
		var slow Event
		if err := json.Unmarshal(line, &slow); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if diff := cmp.Diff(slow.Attempt, fast, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzOperationLines(f *testing.F) {
	f.Add(AppendOperation(nil, &Operation{ID: 1, Keys: []string{"a", ""}, Body: []byte("x"), GiveUpNS: 3, CutBody: 1, SlowNS: 4, Twin: true}))
	f.Fuzz(func(t *testing.T, line []byte) {
		var fast, slow Operation
		s := &scanner{b: line}
		if s.operation(&fast); !s.end() {
			return
		}
		if err := json.Unmarshal(line, &slow); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if diff := cmp.Diff(slow, fast, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzReadNeverPanicsAndSortsItsErrors(f *testing.F) {
	f.Add(false, []byte{0x1f, 0x8b, 8, 0})
	f.Add(true, bytes.Join([][]byte{[]byte(`{"idemstorm":"history","schema":1}`), []byte(fuzzLines[0]), []byte(fuzzLines[10]), nil}, []byte("\n")))
	for _, l := range fuzzLines {
		f.Add(true, []byte(`{"idemstorm":"history","schema":1}`+"\n"+l+"\n"))
	}
	f.Fuzz(func(t *testing.T, compress bool, b []byte) {
		if compress {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			_, _ = w.Write(b)
			_ = w.Close()
			b = z.Bytes()
		}
		path := filepath.Join(t.TempDir(), "h")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(path); err != nil && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("unsorted error %v", err)
		}
	})
}
