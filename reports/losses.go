package reports

import (
	"strconv"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// How many lost orders each format shows; run.json has them all.
const (
	mostLostTerminal = 10
	mostLostMarkdown = 40
	mostLostHTML     = 1000
)

// lossTable is the list of what was acknowledged and lost, as far as a format shows it.
type lossTable struct {
	Title  string
	Stated string
	Rows   []lossRow
	More   int64
}

type lossRow struct{ Key, User, Endpoint, Order, Acknowledged, Before, Afterwards string }

// newLossTable is nil where no loss is stated. Its title has the full count, zero included.
func newLossTable(l *verdict.Losses, most int) *lossTable {
	if l == nil {
		return nil
	}
	t := &lossTable{Title: "Acknowledged and lost: " + count(int64(len(l.Orders))), Stated: "The scenario states: " + l.Stated + "."}
	for i, o := range l.Orders {
		if i == most {
			t.More = int64(len(l.Orders) - most)
			break
		}
		t.Rows = append(t.Rows, newLossRow(o))
	}
	return t
}

func newLossRow(o verdict.Lost) lossRow {
	row := lossRow{
		Key: o.Key, User: strconv.FormatInt(o.User, 10), Endpoint: o.Endpoint, Order: o.Order,
		Acknowledged: duration(time.Duration(o.AckedNS)), Before: duration(time.Duration(o.BeforeNS)), Afterwards: "gone",
	}
	if row.Key == "" {
		row.Key = dash
	}
	if o.Again {
		row.Afterwards = "executed again"
	}
	return row
}

// losses prints the list as a table, without the users where the width is short.
func (p *printer) losses(l *verdict.Losses) {
	t := newLossTable(l, mostLostTerminal)
	if t == nil {
		return
	}
	p.paragraph(bold, "", t.Title)
	p.paragraph(faint, "  ", t.Stated)
	columns := []column{
		{Head: "key"},
		{Head: "endpoint", Flexible: true},
		{Head: "order", Right: true},
		{Head: "at", Right: true},
		{Head: "before strike", Right: true},
		{Head: "afterwards", Optional: true},
		{Head: "user", Right: true, Optional: true},
	}
	var rows [][]string
	for _, r := range t.Rows {
		rows = append(rows, []string{r.Key, r.Endpoint, clip(r.Order, 20), r.Acknowledged, r.Before, r.Afterwards, r.User})
	}
	if len(rows) > 0 {
		p.table(2, columns, rows, nil)
	}
	if t.More > 0 {
		p.paragraph(plain, "  … and ", count(t.More)+" more in "+HTMLFile+" and "+verdict.File)
	}
	p.blank()
}
