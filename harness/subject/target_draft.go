package subject

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml"
)

// Draft is what is known when a target file is begun. Zero values are written as examples, with a word about what to put there.
type Draft struct {
	Name       string
	URL        string // base URL of a running service; "" for one that is started
	Command    []string
	Method     string
	Path       string
	Body       string
	Header     string // of the key
	Profile    string
	Marker     string // response header that tells a replay, beside the profile's own
	Auth       map[string]string
	Executions string   // SQL
	Database   string   // URL of a running service's database
	Notes      []string // what was guessed, for a person to look at
}

//go:embed target_draft.yaml
var draftFile embed.FS

var draftTemplate = template.Must(template.New("target_draft.yaml").Funcs(template.FuncMap{"yaml": inline}).ParseFS(draftFile, "target_draft.yaml"))

// Write writes a commented target file. What it writes is one that LoadTarget reads.
func (d Draft) Write(w io.Writer) error {
	return draftTemplate.Execute(w, d.withDefaults())
}

func (d Draft) withDefaults() Draft {
	for field, byDefault := range map[*string]string{
		&d.Name: "my-service", &d.Method: "POST", &d.Path: "/orders", &d.Header: "Idempotency-Key", &d.Profile: "ietf",
		&d.Executions: "SELECT id, idempotency_key AS key FROM orders",
	} {
		if *field == "" {
			*field = byDefault
		}
	}
	if len(d.Command) == 0 {
		d.Command = []string{"node", "server.js"}
	}
	if d.Body == "" && d.Method != "DELETE" {
		d.Body = `{"item": "book", "quantity": {{number:1-9}}, "reference": "{{unique}}"}`
	}
	return d
}

// inline is a value as YAML on one line.
func inline(v any) (string, error) {
	data, err := yaml.MarshalWithOptions(v, yaml.Flow(true), yaml.UseSingleQuote(true))
	if err != nil {
		return "", fmt.Errorf("write %v: %w", v, err)
	}
	text := strings.TrimSpace(string(data))
	if s, ok := v.(string); ok && (strings.Contains(text, "\n") || strings.ContainsAny(s, "{}")) {
		return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "\n", " "), "'", "''") + "'", nil
	}
	return text, nil
}
