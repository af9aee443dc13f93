package reports

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// longest bounds one string of a report, in runes; run.json keeps it whole.
const longest = 2000

// presentable is a deep copy of a run whose strings can be shown anywhere: control, format and other unprintable characters
// are spelled as escapes, so that a key cannot move a terminal's cursor, turn a line's direction or break an XML parser; very
// long strings are cut and say so. Bodies stay as they are, and are made visible where they are shown.
func presentable(r verdict.Run) verdict.Run {
	return shown(reflect.ValueOf(r), safe).Interface().(verdict.Run)
}

func presentables(rs []verdict.Run) []verdict.Run {
	out := make([]verdict.Run, len(rs))
	for i, r := range rs {
		out[i] = presentable(r)
	}
	return out
}

func safe(s string) string { return clip(visible(s), longest) }

// shown copies as it goes, and spells every string: the caller keeps its run, and two formats may be written at once.
func shown(v reflect.Value, spell func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(spell(v.String()))
	case reflect.Struct:
		showFields(v, out, spell)
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(shown(v.Elem(), spell))
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(shown(v.Index(i), spell))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(shown(it.Key(), spell), shown(it.Value(), spell))
			}
		}
	}
	return out
}

// showFields leaves a struct with hidden fields (a time.Time) as it is.
func showFields(v, out reflect.Value, spell func(string) string) {
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			out.Set(v)
			return
		}
		out.Field(i).Set(shown(v.Field(i), spell))
	}
}

// visible spells everything that does not print as a Go escape: \n, \x1b, \u202e, \xff for a byte that is not UTF-8.
func visible(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case unprintable(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unprintable counts the byte order mark and unassigned characters too: unicode.IsPrint knows letters, marks, numbers,
// punctuation, symbols and the ASCII space. The other spaces (a no-break space in prose) are let through.
func unprintable(r rune) bool { return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) }
