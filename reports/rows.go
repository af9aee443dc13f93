package reports

import (
	"maps"
	"slices"

	"github.com/idemstorm/idemstorm/harness/history"
)

// mostRows bounds the rows that one counterexample shows of one table.
const mostRows = 40

// rowTable is the rows of one database table with the union of their columns. A cell that a row does not have is a dash.
type rowTable struct {
	Name    string
	Columns []string // the first is the id
	Rows    [][]string
	More    int
}

// rowTables groups rows by their table, in the order of first mention.
func rowTables(rows []history.Row) []rowTable {
	var names []string
	grouped := map[string][]history.Row{}
	for _, r := range rows {
		if grouped[r.Table] == nil {
			names = append(names, r.Table)
		}
		grouped[r.Table] = append(grouped[r.Table], r)
	}
	var out []rowTable
	for _, n := range names {
		out = append(out, newRowTable(n, grouped[n]))
	}
	return out
}

// newRowTable orders the columns of a row by name, since a map has no order and reports must not differ from run to run.
func newRowTable(name string, rows []history.Row) rowTable {
	t := rowTable{Name: name, Columns: []string{"id"}}
	if len(rows) > mostRows {
		t.More = len(rows) - mostRows
		rows = rows[:mostRows]
	}
	seen := map[string]bool{"id": true}
	for _, r := range rows {
		for _, c := range slices.Sorted(maps.Keys(r.Fields)) {
			if !seen[c] {
				seen[c] = true
				t.Columns = append(t.Columns, c)
			}
		}
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, cells(r, t.Columns))
	}
	return t
}

func cells(r history.Row, columns []string) []string {
	out := []string{r.ID}
	for _, c := range columns[1:] {
		v, ok := r.Fields[c]
		if !ok {
			v = dash
		}
		out = append(out, v)
	}
	return out
}
