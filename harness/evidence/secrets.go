package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/idemstorm/idemstorm/harness/history"
)

// Place is something to be searched for credentials, line by line.
type Place struct {
	Name string // table or file, as Set.Secrets names it
	Text io.Reader
}

// Pattern recognises the look of a credential. Trigger, in lower case, must occur in a line before the costlier Match is tried.
type Pattern struct {
	Name    string
	Trigger string
	Match   *regexp.Regexp
}

// A value of stars, brackets or angle brackets is a redaction, not a credential.
const shownValue = `["']?\s*[:=]\s*\\?["']?[^\s"'*\[<\\,}]{4,}`

// Patterns are the looks of credentials that are searched for beside the known secrets.
var Patterns = []Pattern{
	{"bearer token", "bearer", regexp.MustCompile(`(?i)bearer\s+[a-z0-9._~+/=-]{8,}`)},
	{"password", "passw", regexp.MustCompile(`(?i)passw(or)?d` + shownValue)},
	{"secret", "secret", regexp.MustCompile(`(?i)secret` + shownValue)},
	{"API key", "api", regexp.MustCompile(`(?i)api[_-]?key` + shownValue)},
	{"token", "token", regexp.MustCompile(`(?i)(access|refresh|session|auth|id)[_-]?token` + shownValue)},
	{"password in a URL", "://", regexp.MustCompile(`(?i)[a-z]+://[^\s:/@"]*:[^\s@/"*]+@`)},
	{"provider key", "sk_", regexp.MustCompile(`\b[sr]k_(live|test)_[A-Za-z0-9]{8,}`)},
	{"JSON web token", "eyj", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.`)},
	{"private key", "private key-", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
}

// longestLine bounds a log line; what is longer is searched in pieces.
const longestLine = 1 << 20

// ScanSecrets searches places for the known secrets and for Patterns. Each find names the place, the line (from 1) and what
// it looks like, never the credential itself. scanned counts the lines looked at. Secrets shorter than 8 bytes are not searched
// for: they would match by chance.
func ScanSecrets(places []Place, secrets []string) (found []history.Row, scanned int64, err error) {
	known := newSecretSet(secrets)
	found = []history.Row{}
	for _, p := range places {
		rows, lines, err := p.scan(known)
		found = append(found, rows...)
		scanned += lines
		if err != nil {
			return found, scanned, fmt.Errorf("search %s for credentials: %w", p.Name, err)
		}
	}
	return found, scanned, nil
}

// RecordBodies are the stored answers as places to be searched, each named by its record.
func RecordBodies(records []Record) []Place {
	var places []Place
	for _, r := range records {
		if r.Body != "" {
			places = append(places, Place{Name: "idempotency_keys.response_body of record " + r.ID, Text: strings.NewReader(r.Body)})
		}
	}
	return places
}

func (p Place) scan(known secretSet) (found []history.Row, lines int64, err error) {
	reader := bufio.NewReaderSize(p.Text, longestLine)
	for {
		raw, err := reader.ReadSlice('\n')
		if len(raw) > 0 {
			lines++
			if what := known.look(string(raw)); what != "" {
				found = append(found, history.Row{
					Table: p.Name, ID: strconv.FormatInt(lines, 10), Fields: map[string]string{"looks_like": what},
				})
			}
		}
		if errors.Is(err, io.EOF) {
			return found, lines, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return found, lines, err
		}
	}
}

// probe is the length of the prefix by which known secrets are found: thousands of them cost one look-up a byte.
const probe = 8

type secretSet map[string][]string

func newSecretSet(secrets []string) secretSet {
	set := secretSet{}
	for _, s := range secrets {
		if len(s) >= probe {
			set[s[:probe]] = append(set[s[:probe]], s)
		}
	}
	return set
}

// look names what a line gives away, or "".
func (set secretSet) look(line string) string {
	if set.holds(line) {
		return "a credential of this run"
	}
	lower := strings.ToLower(line)
	for _, p := range Patterns {
		if strings.Contains(lower, p.Trigger) && p.Match.MatchString(line) {
			return p.Name
		}
	}
	return ""
}

func (set secretSet) holds(line string) bool {
	if len(set) == 0 {
		return false
	}
	for i := 0; i+probe <= len(line); i++ {
		for _, s := range set[line[i:i+probe]] {
			if strings.HasPrefix(line[i:], s) {
				return true
			}
		}
	}
	return false
}
