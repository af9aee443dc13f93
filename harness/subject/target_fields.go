package subject

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// bodyFields are generated for each key, and the same for all requests under it.
var bodyFields = []string{"unique", "number", "number:1-9", "choice:a|b", "timestamp"}

// addressFields are what a process of the server may be told.
var addressFields = []string{"port", "database_url", "database_host", "database_port", "database_name", "database_user", "database_password", "provider_url"}

var placeholder = regexp.MustCompile(`\{\{\s*([^{}\r\n]*?)\s*\}\}`)

// known refuses a placeholder that is not among the fields.
func known(text string, fields []string) error {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(fields, m[1]) {
			return fmt.Errorf("there is no field {{%s}}; write one of {{%s}}", m[1], strings.Join(fields, "}}, {{"))
		}
	}
	return nil
}

// knownInBody refuses a generated field that there is not, or that cannot be generated.
func knownInBody(text string) error {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		name, argument, with := strings.Cut(m[1], ":")
		switch {
		case name == "choice" && with && argument != "", name == "number" && with && isSpan(argument):
		case name == "number" && with:
			return fmt.Errorf("{{%s}} is no span of numbers; write {{number:1-9}}", m[1])
		case with || name == "choice" || !slices.Contains(bodyFields, name):
			return known(m[0], bodyFields)
		}
	}
	return nil
}

var spanForm = regexp.MustCompile(`^\s*(\d{1,9})\s*-\s*(\d{1,9})\s*$`)

// span reads two numbers, the lower first.
func span(text string) (low, high int, ok bool) {
	m := spanForm.FindStringSubmatch(text)
	if m == nil {
		return 1, 1, false
	}
	low, _ = strconv.Atoi(m[1]) // digits, by the pattern
	high, _ = strconv.Atoi(m[2])
	return low, high, low <= high
}

func isSpan(text string) bool {
	_, _, ok := span(text)
	return ok
}

// fill puts values in the place of their fields.
func fill(text string, values map[string]string) string {
	return fillBy(text, func(field string) string { return values[field] })
}

func fillBy(text string, value func(field string) string) string {
	return placeholder.ReplaceAllStringFunc(text, func(field string) string {
		return value(placeholder.FindStringSubmatch(field)[1])
	})
}

func names(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
