package subject

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

const goodTarget = `name: orders
start:
  command: [node, server.js]
  env: {LOG: "off"}
  ready: /up
  stop: SIGINT
schema: {file: schema.sql}
request:
  method: POST
  path: /orders
  headers: {X-Tenant: acme}
  body: '{"quantity": {{number}}, "reference": "{{unique}}"}'
other_body: '{"quantity": 1, "reference": "{{unique}}"}'
key: {header: Idempotency-Key, format: uuid4}
auth: {Authorization: Bearer abc}
answers: {executed: [201], replayed: [200], in_flight: [409], mismatch: [422]}
recovers_within: 2s
evidence:
  executions: SELECT id, reference AS token FROM orders
  by: token
`

// Who mistypes a target file is told in one line where, which field, and what to write.
func TestABadTargetFileIsRefusedWithLineFieldAndCure(t *testing.T) {
	if _, err := ParseTarget("t.yaml", []byte(goodTarget)); err != nil {
		t.Fatalf("the good file is refused: %v", err)
	}
	for _, c := range []struct{ name, from, to, place, cure string }{
		{"unknown field", "name: orders", "nam: orders", `1:1: unknown field "nam"`, "what may stand here is version, name, url, start"},
		{"unknown field inside", "ready: /up", "readiness: /up", `5:3: unknown field "readiness"`, "in start; what may stand here is command, env, dir, ready"},
		{"a text for a list", "[node, server.js]", "node server.js", "3:12: start.command: ", "write a list, such as [a, b]"},
		{"a text for a mapping", "{file: schema.sql}", "schema.sql", "7:9: schema: ", "write a mapping of file, sql, command"},
		{"a list for a text", "path: /orders", "path: [/orders]", "10:9: request.path: ", "write a text"},
		{"a list for headers", "headers: {X-Tenant: acme}", "headers: [acme]", "11:12: request.headers: ", "such as {name: value}"},
		{"a status that is none", "executed: [201]", "executed: [created]", "16:22: answers.executed[0]: ", "write a whole number"},
		{"a status out of range", "mismatch: [422]", "mismatch: [42]", "16:74: answers.mismatch[0]: 42", "from 200 to 599"},
		{"an error that executes", "executed: [201]", "executed: [409]", "16:22: answers.executed[0]: 409", "under in_flight, mismatch or failed"},
		{"a status twice", "replayed: [200]", "replayed: [201]", "16:39: answers.replayed[0]: 201", "leave it out of both"},
		{"no name", "name: orders\n", "", "1:1: name: missing", "such as orders"},
		{"no command", "[node, server.js]", "[]", "3:12: start.command: missing", "such as [node, server.js]"},
		{"ready is no path", "ready: /up", "ready: up", `5:10: start.ready: "up"`, "such as /healthz, or tcp"},
		{"no such signal", "SIGINT", "INTERRUPT", `6:9: start.stop: "INTERRUPT"`, "SIGTERM, SIGINT or SIGQUIT"},
		{"unknown address", `"off"`, `"{{redis}}"`, "4:14: start.env.LOG: there is no field {{redis}}", "write one of {{port}}, {{database_url}}"},
		{"schema twice", "{file: schema.sql}", "{file: schema.sql, sql: SELECT 1}", "7:", "keep one"},
		{"a method that changes nothing", "method: POST", "method: GET", `9:11: request.method: "GET"`, "POST, PUT, PATCH, DELETE"},
		{"a whole URL", "path: /orders", "path: http://shop/orders", "10:9: request.path: ", "such as /orders"},
		{"unknown generated field", "{{number}}", "{{amount}}", "12:9: request.body: there is no field {{amount}}", "write one of {{unique}}, {{number}}"},
		{"other body is the same", `'{"quantity": 1, "reference": "{{unique}}"}'`, `'{"quantity": {{number}}, "reference": "{{unique}}"}'`, "13:13: other_body: ", "something else"},
		{"other body without token", `1, "reference": "{{unique}}"`, `1, "reference": "none"`, "13:13: other_body: ", "where request.body has it"},
		{"unknown key format", "format: uuid4", "format: uuid9", `14:40: key.format: "uuid9"`, "uuid4, uuid7, opaque or quoted"},
		{"key header with a space", "header: Idempotency-Key", "header: Idempotency Key", "14:15: key.header: ", "such as Idempotency-Key"},
		{"key among the headers", "{X-Tenant: acme}", "{Idempotency-Key: 1}", "11:30: request.headers.Idempotency-Key: ", "leave it out"},
		{"recovery is no time", "recovers_within: 2s", "recovers_within: soon", `17:18: recovers_within: "soon"`, "such as 2s"},
		{"recovery without in flight", "in_flight: [409], ", "", "17:18: recovers_within: ", "or [] if duplicates wait"},
		{"no evidence", "  executions: SELECT id, reference AS token FROM orders\n", "", "evidence.executions: missing", "SELECT id, idem_key AS key FROM orders"},
		{"two statements", "FROM orders", "FROM orders; SELECT 1", "19:15: evidence.executions: ", "one SELECT without a semicolon"},
		{"unknown by", "by: token", "by: hash", `20:7: evidence.by: "hash"`, "write key or token"},
		{"token that is not sent", `"reference": "{{unique}}"}'` + "\nother", `"reference": "x"}'` + "\nother", "20:7: evidence.by: ", "put it into a field that the service stores"},
		{"a field twice", "name: orders", "name: orders\nname: shop", "2:1: ", `"name" already defined`},
		{"no YAML", "name: orders", "name: {{orders}}", "1:", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(goodTarget, c.from) {
				t.Fatalf("%q is not in the good file", c.from)
			}
			_, err := ParseTarget("t.yaml", []byte(strings.Replace(goodTarget, c.from, c.to, 1)))
			if err == nil {
				t.Fatal("it was accepted")
			}
			text := err.Error()
			if !regexp.MustCompile(`^t\.yaml:\d+:\d+: `).MatchString(text) || strings.Contains(text, "\n") ||
				!strings.Contains(text, c.place) || !strings.Contains(text, c.cure) {
				t.Errorf("got:  %s\nwant: t.yaml:%s … %s", text, c.place, c.cure)
			}
		})
	}
}

// All requests under a key are the same, whatever is generated in them; those of another key are not.
func TestWhatIsGeneratedFollowsFromTheKey(t *testing.T) {
	target, err := ParseTarget("t.yaml", []byte(goodTarget))
	if err != nil {
		t.Fatal(err)
	}
	one, two := target.NewKey(), target.NewKey()
	body := func(key string) string { return target.Generated(target.Request.Body, key) }
	if first, again, other := body(one), body(one), body(two); one == two || first != again || first == other {
		t.Errorf("keys %s and %s, bodies %s, %s and %s", one, two, first, again, other)
	}
	if !strings.Contains(body(one), target.RowName(one)) {
		t.Errorf("the rows' token %s is not in %s", target.RowName(one), body(one))
	}
}

func TestAKeyIsSentInItsFormat(t *testing.T) {
	const id = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
	for format, pattern := range map[string]string{"uuid4": "^" + id + "$", "quoted": `^"` + id + `"$`, "opaque": "^[a-z2-7]{24}$", "uuid7": `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`} {
		target, err := ParseTarget("t.yaml", []byte(strings.Replace(goodTarget, "uuid4", format, 1)))
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		target.Sign(h, target.NewKey())
		if got := h.Get("Idempotency-Key"); !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("%s: %s", format, got)
		}
		if h.Get("X-Tenant") != "acme" || h.Get("Authorization") != "Bearer abc" || h.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", h)
		}
	}
}

func TestTheDocumentedExamplesLoad(t *testing.T) {
	first := documented(t, "../../docs/target-file.md", 0)
	if first.Promise.Profile == "" || len(first.Evidence.Sources()) != 4 || first.Recovery() == 0 || len(first.missing()) != 0 || !first.ByClock() {
		t.Errorf("the example does not show everything: %+v", first)
	}
	if running := documented(t, "../../docs/target-file.md", 1); !running.Running() || !running.Database.Disposable {
		t.Errorf("the second example is of no running service: %+v", running)
	}
	documented(t, "../../README.md", 0)
}

// documented is the n-th block of YAML in a document.
func documented(t *testing.T, doc string, n int) Target {
	t.Helper()
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	example, _, _ := strings.Cut(strings.Split(string(text), "```yaml\n")[n+1], "```")
	target, err := ParseTarget(doc, []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// Who begins a file by hand or by asking gets one that is understood, whatever was answered.
func TestADraftIsAFileThatLoads(t *testing.T) {
	for name, d := range map[string]Draft{
		"nothing known": {},
		"running":       {URL: "http://127.0.0.1:3000", Name: "shop: \"the\" one", Body: "{\"it's\": {{number}}}", Auth: map[string]string{"X-Api-Key": "a: b #c"}},
		"with rows":     {URL: "http://127.0.0.1:3000", Database: "postgres://u:p@127.0.0.1/shop", Executions: "SELECT 'a' AS key, \"id\" FROM t"},
		"marked":        {Marker: "X-Again: true", Method: "DELETE", Path: "/orders/1", Notes: []string{"request.path: it is 1 here"}},
	} {
		var b strings.Builder
		if err := d.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := ParseTarget("t.yaml", []byte(b.String())); err != nil {
			t.Errorf("%s: %v in\n%s", name, err, b.String())
		}
	}
}

// Nobody storms another's machine by a slip.
func TestAHostBeyondThisMachineMustBeNamedTwice(t *testing.T) {
	target := Target{URL: []string{"http://127.0.0.1:1", "https://shop.example.com/v1"}, Evidence: TargetEvidence{HTTP: TargetHTTP{Path: "http://logs.example.com/"}}}
	for want, owned := range map[string][]string{
		"shop.example.com is not this machine": nil,
		"logs.example.com is not this machine": {"shop.example.com"},
		"does not name that host":              {"shop.example.com", "logs.example.com", "shop.example.org"},
		"":                                     {"logs.example.com", "shop.example.com"},
	} {
		err := target.Owned(owned)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("owned %v: %v, want %q", owned, err, want)
		}
	}
	for host, is := range map[string]bool{"localhost": true, "127.9.9.9": true, "::1": true, "0.0.0.0": false, "localhost.example.com": false, "10.0.0.1": false} {
		if loopback.Is(host) != is {
			t.Errorf("%s: loopback %t", host, !is)
		}
	}
}

// Whatever is in a target file, it is answered in one line that names the file.
func FuzzATargetFileIsReadOrRefusedInOneLine(f *testing.F) {
	for _, seed := range []string{goodTarget, "", "- a", "name: [", "start: {command: {a: b}}", "answers: {executed: [1, {a: 2}]}", "auth: {? [a]: b}", "\x00", "name: *a", "a: &a [*a]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := ParseTarget("t.yaml", data)
		if err != nil && (!strings.HasPrefix(err.Error(), "t.yaml:") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q", err)
		}
	})
}
