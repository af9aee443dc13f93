package evidence

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/history"
)

func serve(t *testing.T, path, body string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheLedgerReadsIdsAsTextOrNumber(t *testing.T) {
	url := serve(t, "/v1/charges", `[
		{"id":"ch_1","key":"k","user_id":4,"amount_cents":1999,"operation_id":"17","plan":"pro"},
		{"id":2,"key":"","user_id":"5","amount_cents":1,"operation_id":null}]`)
	charges, err := FromProvider(t.Context(), url+"/")
	if err != nil {
		t.Fatal(err)
	}
	want := []Charge{{ID: "ch_1", Key: "k", User: 4, AmountCents: 1999, Operation: 17}, {ID: "2", User: 5, AmountCents: 1}}
	if diff := cmp.Diff(want, charges); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptyLedgerIsNotAMissingOne(t *testing.T) {
	charges, err := FromProvider(t.Context(), serve(t, "/v1/charges", `[]`))
	if err != nil || charges == nil {
		t.Errorf("%v, %v", charges, err)
	}
	if _, err := FromProvider(t.Context(), serve(t, "/elsewhere", `[]`)); err == nil {
		t.Error("a 404 passed for an empty ledger")
	}
	if _, err := FromProvider(t.Context(), serve(t, "/v1/charges", `{}`)); err == nil {
		t.Error("an object passed for a ledger")
	}
}

func TestCountersAreSummedOverReplicas(t *testing.T) {
	page := `# HELP idempotency_miss_total claims won
# TYPE idempotency_miss_total counter
idempotency_miss_total{endpoint="POST /a",replica="x, y"} 3
idempotency_miss_total{endpoint="POST /a",replica="z"} 1 1700000000
idempotency_hit_total{endpoint="say \"b\""} 2e0
idempotency_plain_total 5
idempotency_wait_seconds_bucket{le="0.1"} 7
go_goroutines 12
`
	url := serve(t, "/metrics", page)
	got, err := Counters(t.Context(), []string{url, url + "/metrics"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		CounterName("idempotency_miss_total", "POST /a"): 8, CounterName("idempotency_hit_total", `say "b"`): 4,
		CounterName("idempotency_plain_total", ""): 10,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOneReplicaWithoutCountersIsAnError(t *testing.T) {
	url := serve(t, "/metrics", "")
	if _, err := Counters(t.Context(), []string{url, url + "/nothing"}); err == nil {
		t.Error("a sum without one replica")
	}
	for _, line := range []string{`idempotency_x_total`, `idempotency_x_total{endpoint="a} 1`, `idempotency_x_total{endpoint} 1`, `idempotency_x_total{} x`} {
		if err := addCounters(map[string]float64{}, strings.NewReader(line)); err == nil {
			t.Errorf("%s passed", line)
		}
	}
}

func FuzzCounterLines(f *testing.F) {
	f.Add(`idempotency_miss_total{endpoint="POST /a",x="\\"} 3 4`)
	f.Add(`idempotency_miss_total{`)
	f.Fuzz(func(_ *testing.T, page string) {
		_ = addCounters(map[string]float64{}, strings.NewReader(page)) // it must end, and not panic
	})
}

func TestCredentialsAreFoundAndRedactionsAreNot(t *testing.T) {
	const token = "st_u4_0123456789abcdef"
	cases := []struct {
		line string
		want string
	}{
		{`{"msg":"ok","op":"17"}`, ""},
		{`{"header":"` + token + `"}`, "a credential of this run"},
		{`x=1&token=` + token, "a credential of this run"},
		{`Authorization: Bearer abcdefgh12345678`, "bearer token"},
		{`Authorization: Bearer [redacted]`, ""},
		{`{"password":"hunter22"}`, "password"},
		{`{"password":"****"}`, ""},
		{`{"api_key":"k-12345"}`, "API key"},
		{`postgres://user:pass@127.0.0.1/db`, "password in a URL"},
		{`postgres://user@127.0.0.1/db`, ""},
		{`http://127.0.0.1:8080/x`, ""},
		{`"key":"sk_live_abcdefgh1234"`, "provider key"},
		{`{"error":"invalid token"}`, ""},
		{`-----BEGIN RSA PRIVATE KEY-----`, "private key"},
	}
	for _, c := range cases {
		found, scanned, err := ScanSecrets([]Place{{Name: "log", Text: strings.NewReader("first\n" + c.line + "\n")}}, []string{token, "short"})
		if err != nil || scanned != 2 {
			t.Fatalf("%d lines, %v", scanned, err)
		}
		got := ""
		if len(found) > 0 {
			got = found[0].Fields["looks_like"]
			if found[0].ID != "2" || found[0].Table != "log" {
				t.Errorf("%s was found at %+v", c.line, found[0])
			}
		}
		if got != c.want {
			t.Errorf("%s looks like %q, want %q", c.line, got, c.want)
		}
	}
}

func TestALineWithoutEndIsSearchedToo(t *testing.T) {
	long := strings.Repeat("x", 3<<20) + "\nBearer abcdefgh12345678"
	found, _, err := ScanSecrets([]Place{{Name: "log", Text: strings.NewReader(long)}}, nil)
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestStoredBodiesAreSearched(t *testing.T) {
	places := RecordBodies([]Record{{ID: "1", Body: `{"session_token":"abcdefgh"}`}, {ID: "2"}})
	found, scanned, err := ScanSecrets(places, nil)
	if err != nil || scanned != 1 || len(found) != 1 || !strings.Contains(found[0].Table, "record 1") {
		t.Errorf("%v, %d, %v", found, scanned, err)
	}
}

func TestWhatIsSavedIsLoadedAndNilStaysNil(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evidence.json")
	set := Set{
		Schema: Schema, Orders: []Order{}, Records: []Record{{ID: "1", Body: `{"a":"<&>"}`}},
		Closing: []Account{{User: 1, Positions: map[string]int64{"A": 1}}, {User: 2}}, Secrets: []history.Row{},
	}
	if err := Save(path, set); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(set, got); diff != "" {
		t.Error(diff)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAnEvidenceFileOfAnotherSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evidence.json")
	for _, text := range []string{`{"schema":99}`, `{`, ``} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil {
			t.Errorf("%q was loaded", text)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no file, and no error")
	}
}

func TestWhatAServerHoldsIsReadFromItsMetrics(t *testing.T) {
	url := serve(t, "/metrics", `# HELP go_goroutines Number of goroutines that currently exist.
go_goroutines 17
process_open_fds 33
process_resident_memory_bytes 3.1e+07
db_pool_connections{pool="store"} 6
db_pool_acquired{pool="store"} 1
db_pool_limit{pool="store"} 8
redis_pool_connections 3
redis_pool_limit 20
go_gc_duration_seconds{quantile="0.25"} NaN
`)
	got, err := ReadHeld(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	want := Held{Goroutines: 17, Descriptors: 33, Memory: 31_000_000, Pools: map[string]Pool{"store": {Open: 6, Acquired: 1, Limit: 8}}, Redis: Pool{Open: 3, Limit: 20}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	silent, err := ReadHeld(t.Context(), serve(t, "/metrics", "up 1\n"))
	if err != nil || silent.Goroutines != -1 || silent.Descriptors != -1 {
		t.Errorf("what is not published passes for a figure: %+v, %v", silent, err)
	}
}

func TestAPoolAccountsForTheSessionsThatBearItsName(t *testing.T) {
	r := Resources{
		Replicas: []Held{{Pools: map[string]Pool{"store": {Open: 2}, "orders": {Open: 5}}}, {Pools: map[string]Pool{"store": {Open: 3}}}},
		Sessions: map[string]int64{"idemstorm-store": 5, "idemstorm-orders": 4},
	}
	if n := r.Pooled("idemstorm-store"); n != 5 {
		t.Errorf("%d connections, want 5", n)
	}
	if r.Connected() {
		t.Error("9 sessions pass for 10 connections")
	}
}
