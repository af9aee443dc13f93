package reports

import "github.com/idemstorm/idemstorm/harness/verdict"

// endpointTable is what was asked of each endpoint, with one column for each outcome that came.
type endpointTable struct {
	Answers []string
	Rows    []endpointRow
}

type endpointRow struct {
	verdict.Endpoint
	Counts []string
}

// newEndpointTable is nil where the run file does not say, as those of older versions.
func newEndpointTable(r verdict.Run) *endpointTable {
	if len(r.Endpoints) == 0 {
		return nil
	}
	totals := map[string]int64{}
	for _, e := range r.Endpoints {
		for name, n := range e.Ended {
			totals[name] += n
		}
	}
	t := &endpointTable{}
	names := answerNames(totals)
	for _, name := range names {
		t.Answers = append(t.Answers, answerLabel(name))
	}
	for _, e := range r.Endpoints {
		row := endpointRow{Endpoint: e}
		for _, name := range names {
			row.Counts = append(row.Counts, count(e.Ended[name]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
