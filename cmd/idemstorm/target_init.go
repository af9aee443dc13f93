package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/idemstorm/idemstorm/harness/loopback"
	"github.com/idemstorm/idemstorm/harness/openapi"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// initFlags are what `target init` takes.
type initFlags struct {
	openapi, operation, out string
	ask                     bool
}

func newTargetInitCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Begin a target file, from an OpenAPI document or by asking",
		Long: `Init writes a commented target file to complete: from an OpenAPI 3 document, in YAML or JSON, it takes server, path, method, the key's header,
what authentication is asked for, and a body that fits the schema. Without a document it asks on the terminal.`,
		Example: `  idemstorm target init --openapi api.yaml --operation createOrder --out my-service.yaml
  idemstorm target init --out my-service.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			draft, err := f.draft(cmd.InOrStdin(), cmd.ErrOrStderr())
			if err != nil {
				return exitWith(exitUsage, err)
			}
			return f.write(cmd.OutOrStdout(), draft)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.openapi, "openapi", "", "OpenAPI 3 document, YAML or JSON (default: the terminal is asked)")
	flags.StringVar(&f.operation, "operation", "", `operation of it, by its id or as "POST /orders" (default: the only one that posts)`)
	flags.StringVar(&f.out, "out", "", "file to write, which must not be there yet (default: standard output)")
	flags.BoolVar(&f.ask, "ask", false, "ask also where standard input is no terminal")
	return cmd
}

func (f initFlags) draft(in io.Reader, out io.Writer) (subject.Draft, error) {
	switch {
	case f.openapi != "":
		return draftFromDocument(f.openapi, f.operation)
	case f.operation != "":
		return subject.Draft{}, errors.New("--operation: of which document? name it by --openapi")
	case !f.ask && !term.IsTerminal(int(os.Stdin.Fd())):
		return subject.Draft{}, errors.New("there is no terminal to ask on; name a document by --openapi, or answer on standard input with --ask")
	}
	return askDraft(in, out)
}

func (f initFlags) write(w io.Writer, draft subject.Draft) error {
	if f.out == "" {
		return draft.Write(w)
	}
	if _, err := os.Stat(f.out); err == nil {
		return exitWith(exitUsage, fmt.Errorf("--out %s: it is there already; name another file, or remove it", f.out))
	}
	if err := wholefile.Write(f.out, draft.Write); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s is begun. Look through it, and then: idemstorm target check %s\n", f.out, shellQuote(f.out))
	return err
}

func draftFromDocument(file, operation string) (subject.Draft, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return subject.Draft{}, fmt.Errorf("--openapi: %w", err)
	}
	o, err := openapi.Read(data, operation)
	if err != nil {
		return subject.Draft{}, fmt.Errorf("%s: %w", file, err)
	}
	d := subject.Draft{
		Name: slug(o.Title), Method: o.Method, Path: o.Path, Body: o.Body, Header: o.Header, Auth: o.Auth, Notes: o.Notes,
	}
	if o.Header == "" {
		d.Notes = append(d.Notes, "key.header: the document has no parameter for it")
	}
	placeDraft(&d, o.Server)
	d.Profile, d.Marker = profileBy(o.Marker)
	return d, nil
}

// placeDraft takes a server on this machine for the running one; of any other the path alone is kept.
func placeDraft(d *subject.Draft, server string) {
	u, err := url.Parse(server)
	if err != nil {
		return
	}
	if loopback.Is(u.Hostname()) {
		d.URL = strings.TrimSuffix(server, "/")
		return
	}
	d.Path = strings.TrimSuffix(u.Path, "/") + d.Path
}

// profileBy guesses the profile by the header that tells a replay.
func profileBy(marker string) (profile, other string) {
	switch {
	case marker == "":
		return "ietf", ""
	case strings.EqualFold(marker, "Idempotent-Replayed"):
		return "stripe", ""
	case strings.EqualFold(marker, "Idempotency-Replayed"):
		return "adr0138", ""
	}
	return "ietf", marker + ": true"
}

// slug is a title as a name for reports.
func slug(title string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(title)), "-")
}

// askDraft asks for what a target file cannot do without. An empty answer takes what is in brackets.
func askDraft(in io.Reader, out io.Writer) (d subject.Draft, err error) {
	lines := bufio.NewScanner(in)
	ask := func(question, byDefault string) string {
		fmt.Fprintf(out, "%s [%s]: ", question, byDefault)
		if !lines.Scan() {
			return byDefault
		}
		if answer := strings.TrimSpace(lines.Text()); answer != "" {
			return answer
		}
		return byDefault
	}
	d.Name = slug(ask("A short name for reports", "my-service"))
	if where := ask("Command that starts the service, or the URL of the running one", "node server.js"); strings.Contains(where, "://") {
		d.URL = strings.TrimSuffix(where, "/")
		d.Database = ask("URL of its database, for evidence by SQL, or nothing", "nothing")
	} else {
		d.Command = strings.Fields(where)
	}
	if d.Database == "nothing" {
		d.Database = ""
	}
	d.Method = strings.ToUpper(ask("Method of the request", "POST"))
	d.Path = ask("Its path", "/orders")
	d.Body = ask("Its body; {{unique}} and {{number:1-9}} are generated for each key", `{"item": "book", "reference": "{{unique}}"}`)
	d.Header = ask("Header of the key", "Idempotency-Key")
	d.Profile = ask("What it keeps to: adr0138, ietf or stripe", "ietf")
	if d.URL == "" || d.Database != "" {
		d.Executions = ask("SQL with one row for each execution, and the key in a column named key", "SELECT id, idempotency_key AS key FROM orders")
	}
	return d, lines.Err()
}
