package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/provider"
)

// OpenForeign starts everything, on a database of its own, asks the server a first time, and reads back what came of it: a file whose request
// is refused or whose evidence shows nothing must not end in an accusation. The caller must Close it.
func OpenForeign(ctx context.Context, o ForeignOptions) (f *Foreign, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	f = &Foreign{opts: o.withDefaults(), promise: o.Target.Contract()}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(ctx))
			f = nil
		}
	}()
	for _, open := range []func(context.Context) error{f.startProvider, f.openDatabase, f.startServers, f.openStage, f.openJudge, f.warm, f.overhear} {
		if err := open(ctx); err != nil {
			return f, err
		}
	}
	return f, nil
}

// startProvider gives the target a payment provider to call, where it wants one; its ledger is not what orders are judged by.
func (f *Foreign) startProvider(ctx context.Context) (err error) {
	if f.opts.Target.Evidence.Provider.Env == "" {
		return nil
	}
	if f.provider, err = provider.Start(ctx, provider.Options{Dir: f.opts.Dir}); err != nil {
		return err
	}
	f.opts.Target = f.opts.Target.WithProvider(f.provider.URL())
	return nil
}

func (f *Foreign) openDatabase(ctx context.Context) (err error) {
	if f.cluster, err = pgcluster.Start(ctx, pgcluster.Options{BinDir: f.opts.BinDir, Fast: true, Settings: settings}); err != nil {
		return err
	}
	if err := f.cluster.CreateDatabase(ctx, database); err != nil {
		return err
	}
	f.dsn = f.cluster.DSN(database)
	return f.withConnection(ctx, func(conn *pgx.Conn) error {
		execute := func(sql string) error {
			_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
			return err
		}
		for n := range f.processes() {
			if err := execute(fmt.Sprintf(roleSQL, role(n), f.password(), n+1)); err != nil {
				return fmt.Errorf("make the servers' roles: %w", err)
			}
		}
		return f.atFile(f.opts.Target.Prepare(ctx, f.dsn, execute))
	})
}

// roleSQL gives each process a role, and by it a clock: the one of a deadlock's parties that looks first is its victim, and must be the same
// each time. A role needs no option in the URL, which not every driver reads.
const roleSQL = `
CREATE ROLE %[1]s LOGIN SUPERUSER PASSWORD '%[2]s';
ALTER ROLE %[1]s SET deadlock_timeout = '%[3]ds'`

func role(n int) string { return fmt.Sprintf("server%d", n+1) }

func (f *Foreign) password() string {
	u, err := url.Parse(f.dsn)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

func (f *Foreign) withConnection(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, f.dsn)
	if err != nil {
		return fmt.Errorf("connect past the gates: %w", err)
	}
	return errors.Join(do(conn), conn.Close(ctx))
}

// atFile names the target file in an error that begins with one of its fields.
func (f *Foreign) atFile(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.opts.Target.File(), err)
}

// processes is how many servers run: one for each request and one that takes retries, or one for all where no second is possible.
func (f *Foreign) processes() int {
	switch {
	case f.opts.Target.Start.OneProcess:
		return 1
	case f.opts.Shared:
		return 2
	}
	return f.opts.Requests + 1
}

// startServers starts one after the other: the first may be making the tables.
func (f *Foreign) startServers(ctx context.Context) error {
	for n := range f.processes() {
		proxy, err := pgwire.Listen(pgwire.Options{Upstream: f.cluster.Addr(), Follow: true, Params: f.opts.Params})
		if err != nil {
			return err
		}
		f.proxies = append(f.proxies, proxy)
		dsn, err := f.through(proxy, n)
		if err != nil {
			return err
		}
		if err := f.startServer(ctx, n, dsn); err != nil {
			return err
		}
	}
	return nil
}

func (f *Foreign) startServer(ctx context.Context, n int, dsn string) error {
	if f.opts.Serve != nil {
		url, err := f.opts.Serve(n+1, dsn)
		f.clients = append(f.clients, explore.NewClient(func() string { return url }, n+1, f.promise))
		return err
	}
	server, err := f.opts.Target.Server(n+1, dsn, f.opts.Dir)
	if err != nil {
		return err
	}
	f.servers = append(f.servers, server)
	f.clients = append(f.clients, explore.NewClient(server.URL, n+1, f.promise))
	return f.atFile(server.Start(ctx))
}

// through is the database's URL for the n-th process.
func (f *Foreign) through(proxy *pgwire.Proxy, n int) (string, error) {
	dsn, err := pgcluster.Via(f.dsn, proxy.Addr())
	if err != nil {
		return "", err
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("the database's address is no URL")
	}
	u.User = url.UserPassword(role(n), f.password())
	return u.String(), nil
}

// openStage comes after the servers, which may have made the tables. The process that takes retries, if it is one more, is never held.
func (f *Foreign) openStage(ctx context.Context) (err error) {
	f.stage, err = explore.NewStage(ctx, explore.StageOptions{DSN: f.dsn, Quiet: f.opts.Quiet, Params: f.opts.Params})
	if err != nil {
		return err
	}
	for n := range max(1, len(f.proxies)-1) {
		owner := n
		if f.opts.Shared {
			owner = explore.Shared
		}
		if err := f.proxies[n].SetController(f.stage.Gate(owner)); err != nil {
			return err
		}
	}
	return nil
}

func (f *Foreign) openJudge(ctx context.Context) error {
	return f.withConnection(ctx, func(conn *pgx.Conn) error {
		query, err := f.executions(ctx, conn)
		if err != nil {
			return f.atFile(fmt.Errorf("evidence.executions: %w", err))
		}
		f.judge = &explore.Judge{
			Contract: f.promise, Queries: evidence.Queries{Orders: query}, DSN: f.dsn, Route: contract.ServiceRoute,
			RowName: f.opts.Target.RowName, Recovery: f.opts.Target.Recovery(),
		}
		return nil
	})
}

// executionsSQL makes the rows that a target file names into those that the checks know: of one user and one endpoint, by the key as text, which
// some services store with its quotation marks.
const executionsSQL = `
SELECT btrim(%[1]s::text, '"') AS key, 1 AS "user", '%[2]s' AS endpoint, %[3]s::text AS execution, %[3]s::text AS id,
       to_jsonb(executions.*)::text AS "row"
FROM (%[4]s) AS executions`

// executions asks the database which columns the file's query has, and wraps it.
func (f *Foreign) executions(ctx context.Context, conn *pgx.Conn) (string, error) {
	e := f.opts.Target.Evidence
	sql := strings.TrimRight(strings.TrimSpace(e.Executions), ";")
	described, err := conn.Prepare(ctx, "", sql)
	if err != nil {
		return "", fmt.Errorf("the database refuses the query: %w", err)
	}
	var columns []string
	for _, field := range described.Fields {
		columns = append(columns, field.Name)
	}
	if !slices.Contains(columns, string(e.By)) {
		return "", fmt.Errorf("its columns are %s; name one of them %s, as in SELECT order_ref AS %s FROM orders", joined(columns), e.By, e.By)
	}
	id := "row_number() OVER ()"
	if slices.Contains(columns, "id") {
		id = "executions.id"
	}
	route, _ := f.promise.Route(contract.ServiceRoute)
	scope := strings.ReplaceAll(route.Scope(), "'", "''")
	return fmt.Sprintf(executionsSQL, "executions."+string(e.By), scope, id, sql), nil
}

func joined(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// warm brings every server to where its connections are open and its statements prepared, and sees that the file is right.
func (f *Foreign) warm(ctx context.Context) error {
	for _, client := range f.clients {
		for range warmings {
			c := f.fresh()
			if err := f.works(ctx, client, c); err != nil {
				return f.atFile(err)
			}
			f.ask(ctx, client, c) // a duplicate, whatever it is answered
		}
	}
	return nil
}

// works wants a request under a fresh key to succeed, and its one execution to be there when it is answered.
func (f *Foreign) works(ctx context.Context, client *explore.Client, c explore.Case) error {
	a := f.ask(ctx, client, c)
	if a.Status == 0 {
		return fmt.Errorf("request: %s %s was not answered within %v; see the server's log", a.Method, a.Path, answeredWithin)
	}
	if a.Status/100 != 2 {
		return fmt.Errorf("request: %s %s was answered %d %.200s; under a fresh key it must succeed: see to path, headers, body and auth", a.Method, a.Path, a.Status, bytes.Join(bytes.Fields(a.Answer), []byte(" ")))
	}
	outcome, err := f.judge.Case(ctx, c, nil, explore.Beside{})
	switch {
	case err != nil:
		return fmt.Errorf("evidence.executions: %w", err)
	case outcome.Executions != 1:
		return fmt.Errorf("evidence.executions: shows %d rows for a single request, under %s %q, that was answered %d; there must be one row for each execution, by the time of the answer",
			outcome.Executions, f.opts.Target.Evidence.By, f.opts.Target.RowName(c.Key), a.Status)
	}
	return nil
}

// answeredWithin bounds a request that nothing holds.
const answeredWithin = 10 * time.Second

func (f *Foreign) ask(ctx context.Context, client *explore.Client, c explore.Case) explore.Attempt {
	ctx, cancel := context.WithTimeout(ctx, answeredWithin)
	defer cancel()
	return client.Send(ctx, c, f.request(c, f.opts.Target.Request.Body))
}

// overhearing is how long the servers are left alone.
const overhearing = 1200 * time.Millisecond

func (f *Foreign) overhear(ctx context.Context) error { return f.stage.Overhear(ctx, overhearing) }
