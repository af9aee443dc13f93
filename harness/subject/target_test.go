package subject

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
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
		{"unknown field", "name: orders", "nam: orders", `1:1: unknown field "nam"`, "what may stand here is version, name, start, schema"},
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
		{"unknown key format", "format: uuid4", "format: uuid7", `14:40: key.format: "uuid7"`, "uuid4, opaque or quoted"},
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
	for format, pattern := range map[string]string{"uuid4": "^" + id + "$", "quoted": `^"` + id + `"$`, "opaque": "^[a-z2-7]{24}$"} {
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

func TestTheDocumentedExampleLoads(t *testing.T) {
	const doc = "../../docs/target-file.md"
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ := strings.Cut(block, "```")
	target, err := ParseTarget(doc, []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if target.Name == "" || len(target.Answers.Mismatch) == 0 || target.Recovery() == 0 {
		t.Errorf("the example does not show everything: %+v", target)
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
