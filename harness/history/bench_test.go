package history

import "testing"

const answer = `{"id":"0b9f4a86-2f3e-4a55-9f4e-0a3f2f1f3c11","symbol":"AAPL","side":"buy","quantity":3,"status":"filled","price_cents":18950}`

func fill(b *testing.B, w *Writer, n int) {
	b.Helper()
	r := w.Recorder()
	for i := range n {
		at := int64(i) * 20_000
		r.Attempt(&Attempt{Op: int64(i), N: 1, Replica: 1, IntendedNS: at, SentNS: at + 917, DoneNS: at + 1_234_567, Outcome: Returned, Status: 201, Body: []byte(answer)})
	}
}

func BenchmarkRecordAttempt(b *testing.B) {
	w, _ := create(b)
	b.ReportAllocs()
	b.ResetTimer()
	fill(b, w, b.N)
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReadAttempt(b *testing.B) {
	w, path := create(b)
	fill(b, w, b.N)
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, err := range Read(path) {
		if err != nil {
			b.Fatal(err)
		}
	}
}
