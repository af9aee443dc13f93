package subject

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// bodyFields are generated for each key, and the same for all requests under it.
var bodyFields = []string{"unique", "number"}

// addressFields are what a process of the server may be told.
var addressFields = []string{"port", "database_url", "database_host", "database_port", "database_name", "database_user", "database_password"}

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

// fill puts values in the place of their fields.
func fill(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(field string) string {
		return values[placeholder.FindStringSubmatch(field)[1]]
	})
}

func names(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
