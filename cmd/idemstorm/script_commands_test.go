package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// patience bounds every wait of a script.
const patience = 60 * time.Second

// postgres gives a script a server with an empty database, in DATABASE_URL: postgres
func postgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: postgres")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{})
	ts.Check(err)
	ts.Defer(func() { _ = cluster.Stop() }) // a server that is left is for the tests of pgcluster to find
	ts.Check(cluster.CreateDatabase(ctx, "orders"))
	ts.Setenv("DATABASE_URL", cluster.DSN("orders"))
}

// awaitFile waits for what a background program writes when it is ready: await FILE
func awaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for deadline := time.Now().Add(patience); ; {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s never came", args[0])
		}
		time.Sleep(10 * time.Millisecond) // between looks at the condition
	}
}

// fetch keeps what a server answers, whose address stands in a file: fetch ADDRESS-FILE PATH FILE
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fetch ADDRESS-FILE PATH FILE")
	}
	client := &http.Client{Timeout: patience}
	address := strings.TrimPrefix(strings.TrimSpace(ts.ReadFile(args[0])), "http://")
	answer, err := client.Get("http://" + address + args[1])
	ts.Check(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	ts.Check(err)
	if answer.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s", args[1], answer.Status)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), body, 0o644))
}

// metricName finds the metrics in a query of the dashboard.
var metricName = regexp.MustCompile(`\b(idemstorm|idempotency|db_pool)_[a-z_]+\b`)

// dashboard holds docs/grafana.json against metrics as they are exposed: it may name none that is in none of the files. dashboard FILE…
func dashboard(ts *testscript.TestScript, neg bool, args []string) {
	text, err := os.ReadFile(filepath.Join(startedIn, repository, "docs", "grafana.json"))
	ts.Check(err)
	var whole any
	ts.Check(json.Unmarshal(text, &whole))
	exposed := ""
	for _, file := range args {
		exposed += "\n" + ts.ReadFile(file)
	}
	names := metricName.FindAllString(string(text), -1)
	if len(names) < 10 {
		ts.Fatalf("only %d metrics were found in the dashboard", len(names))
	}
	for _, name := range names {
		if !strings.Contains(exposed, "\n"+name+"{") && !strings.Contains(exposed, "\n"+name+" ") {
			ts.Fatalf("the dashboard shows %s, which nobody exposes", name)
		}
	}
}

// startedIn is this package's folder: scripts run elsewhere.
var startedIn, _ = os.Getwd()
