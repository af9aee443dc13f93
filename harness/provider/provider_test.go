package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/idemstorm/idemstorm/harness/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	monthly = `{"amount_cents":1500,"plan":"monthly","user_id":7,"operation_id":"op-1"}`
	retried = `{"operation_id":"op-2","user_id":7,"plan":"monthly","amount_cents":1500}`
	yearly  = `{"amount_cents":15000,"plan":"yearly","user_id":7,"operation_id":"op-1"}`
)

func TestAKeyIsChargedOnce(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{})
	first := post(t, p, "k1", monthly)
	again := post(t, p, "k1", retried)
	other := post(t, p, "k1", yearly)
	if first.code != 201 || first.replayed || again.code != 201 || !again.replayed {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if first.body != again.body {
		t.Errorf("the replay differs: %s, %s", first.body, again.body)
	}
	if other.code != 422 {
		t.Errorf("another request under the key: %+v", other)
	}
	charges := ledger(t, p)
	if len(charges) != 1 || charges[0].Key != "k1" || charges[0].OperationID != "op-1" ||
		charges[0].AmountCents != 1500 || charges[0].UserID != 7 || charges[0].Plan != "monthly" || charges[0].At.IsZero() {
		t.Errorf("the ledger holds %+v", charges)
	}
}

func TestWithoutAKeyEveryCallIsACharge(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{})
	post(t, p, "", monthly)
	post(t, p, "", monthly)
	if charges := ledger(t, p); len(charges) != 2 || charges[0].ID == charges[1].ID {
		t.Errorf("the ledger holds %+v", charges)
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{})
	for _, body := range []string{"", "{", `[]`, `{"amount_cents":0}`, `{"amount_cents":-5}`, `{"amount_cents":"5"}`} {
		if got := post(t, p, "k", body); got.code != 400 {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if charges := ledger(t, p); len(charges) != 0 {
		t.Errorf("the ledger holds %+v", charges)
	}
	if got := post(t, p, "k", monthly); got.code != 201 {
		t.Errorf("the key was used up: %+v", got)
	}
}

func TestAFailureBeforeActingLeavesTheKeyFree(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{FailEvery: 2})
	codes := []int{post(t, p, "a", monthly).code, post(t, p, "b", monthly).code, post(t, p, "b", monthly).code}
	if diff := cmp.Diff([]int{201, 500, 201}, codes); diff != "" {
		t.Error(diff)
	}
	if charges := ledger(t, p); len(charges) != 2 {
		t.Errorf("the ledger holds %+v", charges)
	}
}

func TestAFailureAfterActingHasCharged(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{FailEvery: 1, FailAfterActing: true})
	if got := post(t, p, "k", monthly); got.code != 500 {
		t.Errorf("got %+v", got)
	}
	behave(t, p, `{}`)
	if got := post(t, p, "k", monthly); got.code != 201 || !got.replayed {
		t.Errorf("the retry: %+v", got)
	}
	if charges := ledger(t, p); len(charges) != 1 {
		t.Errorf("the ledger holds %+v", charges)
	}
}

func TestAFailureRateRepeatsWithItsSeed(t *testing.T) {
	fates := func(seed uint64) (codes string) {
		p := start(t, t.TempDir(), provider.Behaviour{FailRate: 0.5, Seed: seed})
		for range 32 {
			codes += fmt.Sprint(post(t, p, "", monthly).code/100, " ")
		}
		return codes
	}
	if first, second := fates(1), fates(1); first != second {
		t.Error("one seed gives two series of failures")
	}
	if fates(1) == fates(2) {
		t.Error("two seeds give one series of failures")
	}
}

func TestTheFirstCallUnderWayAnswersTheOthersWith409(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{DelayMillis: 600_000})
	// Whichever of the calls is first holds the key until Close; the rest are told so at once.
	const calls = 4
	codes := make(chan int, calls)
	var senders sync.WaitGroup
	for range calls {
		senders.Go(func() {
			got, _ := send(p, "k", monthly)
			codes <- got.code
		})
	}
	for range calls - 1 {
		if code := <-codes; code != 409 {
			t.Errorf("a call beside the first: %d", code)
		}
	}
	if got := post(t, p, "k", yearly); got.code != 422 {
		t.Errorf("another request under the key: %+v", got)
	}
	closing(t, p) // ends the delay without a charge
	senders.Wait()
	if charges := ledger(t, p); len(charges) != 0 {
		t.Errorf("the ledger holds %+v", charges)
	}
}

func TestConcurrentCallsChargeOnceAKey(t *testing.T) {
	const keys, duplicates = 8, 12
	p := start(t, t.TempDir(), provider.Behaviour{DelayMillis: 1, FailRate: 0.3, Seed: 5, FailAfterActing: true})
	var calls sync.WaitGroup
	for n := range keys * duplicates {
		calls.Go(func() { _, _ = send(p, fmt.Sprint("k", n%keys), monthly) })
	}
	calls.Wait()
	seen := map[string]int{}
	for _, charge := range ledger(t, p) {
		seen[charge.Key]++
	}
	for n := range keys {
		if key := fmt.Sprint("k", n); seen[key] != 1 {
			t.Errorf("%s was charged %d times", key, seen[key])
		}
	}
}

func TestWithoutDedupTheLedgerShowsTheDuplicates(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, provider.Behaviour{NoDedup: true})
	post(t, p, "k", monthly)
	post(t, p, "k", monthly)
	if charges := ledger(t, p); len(charges) != 2 || charges[0].Key != "k" || charges[1].Key != "k" {
		t.Errorf("the ledger holds %+v", charges)
	}
	behave(t, p, `{"no_dedup":false}`)
	if got := post(t, p, "k", monthly); !got.replayed {
		t.Errorf("with dedup again: %+v", got)
	}
}

func TestTheLedgerOutlivesTheProvider(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, provider.Behaviour{})
	first := post(t, p, "k", monthly)
	before := ledger(t, p)
	closing(t, p)
	tear(t, dir, `{"id":"ch_000002","key":"torn","amou`)

	p = start(t, dir, provider.Behaviour{})
	if diff := cmp.Diff(before, ledger(t, p)); diff != "" {
		t.Error(diff)
	}
	if again := post(t, p, "k", monthly); !again.replayed || again.body != first.body {
		t.Errorf("after a restart: %+v, want %s", again, first.body)
	}
	post(t, p, "torn", monthly)
	if charges := ledger(t, p); len(charges) != 2 || charges[1].ID != "ch_000002" {
		t.Errorf("the ledger holds %+v", charges)
	}
}

func TestADamagedLedgerIsNotGuessedAt(t *testing.T) {
	dir := t.TempDir()
	tear(t, dir, "not a charge\n")
	if p, err := provider.Start(t.Context(), provider.Options{Dir: dir}); err == nil {
		_ = p.Close()
		t.Error("a damaged ledger was opened")
	}
}

func TestALedgerHasOneProvider(t *testing.T) {
	dir := t.TempDir()
	start(t, dir, provider.Behaviour{})
	if p, err := provider.Start(t.Context(), provider.Options{Dir: dir}); err == nil {
		_ = p.Close()
		t.Error("two providers share a ledger")
	}
}

func TestAProviderThatIsDownRefusesAndComesBack(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{})
	url := p.URL()
	for range 3 {
		if err := p.Down(); err != nil {
			t.Fatal(err)
		}
		if got, err := send(p, "k", monthly); err == nil {
			t.Errorf("answered while down: %+v", got)
		}
		if err := p.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := post(t, p, "k", monthly); got.code != 201 {
			t.Errorf("after coming back: %+v", got)
		}
	}
	if charges := ledger(t, p); p.URL() != url || len(charges) != 1 {
		t.Errorf("at %s the ledger holds %+v", p.URL(), charges)
	}
}

func TestAnImpossibleBehaviourIsRefused(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{})
	for _, body := range []string{
		`{"delay_ms":-1}`, `{"fail_every":-1}`, `{"fail_rate":1.5}`, `{"fail_rate":0.5,"fail_every":2}`, `{"fail_rat":1}`, `no`,
	} {
		if got := call(t, http.MethodPut, p.URL()+"/v1/behaviour", body); got.code != 400 {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if _, err := provider.Start(t.Context(), provider.Options{Dir: t.TempDir(), Behaviour: provider.Behaviour{FailRate: 2}}); err == nil {
		t.Error("Start took an impossible behaviour")
	}
}

func TestTheLedgerIsServed(t *testing.T) {
	p := start(t, t.TempDir(), provider.Behaviour{})
	if got := call(t, http.MethodGet, p.URL()+"/v1/charges", ""); got.body != "[]\n" {
		t.Errorf("an empty ledger is served as %s", got.body)
	}
	post(t, p, "k", monthly)
	var served []provider.Charge
	got := call(t, http.MethodGet, p.URL()+"/v1/charges", "")
	if err := json.Unmarshal([]byte(got.body), &served); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ledger(t, p), served); diff != "" {
		t.Error(diff)
	}
	if got := call(t, http.MethodGet, p.URL()+"/healthz", ""); got.code != 204 {
		t.Errorf("/healthz: %+v", got)
	}
}

type reply struct {
	code     int
	replayed bool
	body     string
}

func start(t *testing.T, dir string, behaviour provider.Behaviour) *provider.Provider {
	t.Helper()
	p, err := provider.Start(t.Context(), provider.Options{Dir: dir, Behaviour: behaviour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, p); http.DefaultClient.CloseIdleConnections() })
	return p
}

func closing(t *testing.T, p *provider.Provider) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func ledger(t *testing.T, p *provider.Provider) []provider.Charge {
	t.Helper()
	charges, err := p.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	return charges
}

func post(t *testing.T, p *provider.Provider, key, body string) reply {
	t.Helper()
	got, err := send(p, key, body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func send(p *provider.Provider, key, body string) (reply, error) {
	request, err := http.NewRequest(http.MethodPost, p.URL()+"/v1/charges", bytes.NewReader([]byte(body)))
	if err != nil {
		return reply{}, err
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	return do(request)
}

func do(request *http.Request) (reply, error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header.Get("Idempotency-Replayed") == "true", string(body)}, err
}

func call(t *testing.T, method, url, body string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := do(request)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func behave(t *testing.T, p *provider.Provider, body string) {
	t.Helper()
	if got := call(t, http.MethodPut, p.URL()+"/v1/behaviour", body); got.code != 200 {
		t.Fatalf("%s: %+v", body, got)
	}
}

// tear appends what a crash may leave in the ledger.
func tear(t *testing.T, dir, text string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(dir, "ledger.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
