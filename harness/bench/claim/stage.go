package claim

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/subject"
)

const (
	users          = 2000 // as many as the floor's script draws from
	cash           = "1000000000000.00"
	deadline       = 10 * time.Second // of the server: a wait shows as a long time, not as a refusal
	patience       = 30 * time.Second // of the clients, beyond any wait of the server
	teardownWithin = 30 * time.Second
)

// settings of the throwaway server. Vacuum and checkpoints happen between the measurements, never in one; durability is as users have it.
var settings = map[string]string{
	"max_connections": "500", "autovacuum": "off", "checkpoint_timeout": "1h", "max_wal_size": "4GB",
	"shared_preload_libraries": "pg_stat_statements", "compute_query_id": "on",
}

// stage is what all measurements stand on: a PostgreSQL with one database a commit setting, and a Redis where a strategy needs it.
type stage struct {
	Options
	dir       string
	cluster   *pgcluster.Cluster // nil with a given server
	databases map[string]*database
	redis     *subject.Redis
	notes     []string
}

// openStage starts and fills everything. On an error nothing is left.
func openStage(ctx context.Context, o Options, dir string) (*stage, error) {
	s := &stage{Options: o, dir: dir, databases: map[string]*database{}}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

func (s *stage) open(ctx context.Context) error {
	if s.DSN == "" {
		if err := s.startCluster(ctx); err != nil {
			return err
		}
	}
	for _, sync := range s.Grid.SyncCommit {
		db, err := s.openDatabase(ctx, sync)
		if err != nil {
			return err
		}
		s.databases[sync] = db
	}
	for _, name := range s.Grid.Strategies {
		if strategy, _ := contract.FindStrategy(name); strategy.Redis {
			return s.startRedis(ctx)
		}
	}
	return nil
}

// startCluster goes without pg_stat_statements where it is not installed.
func (s *stage) startCluster(ctx context.Context) (err error) {
	s.cluster, err = pgcluster.Start(ctx, pgcluster.Options{BinDir: s.BinDir, Settings: settings})
	if err == nil || ctx.Err() != nil {
		return err
	}
	without := map[string]string{"shared_preload_libraries": ""}
	for name, value := range settings {
		if _, ok := without[name]; !ok {
			without[name] = value
		}
	}
	var again error
	if s.cluster, again = pgcluster.Start(ctx, pgcluster.Options{BinDir: s.BinDir, Settings: without}); again != nil {
		return err
	}
	return nil
}

func (s *stage) startRedis(ctx context.Context) (err error) {
	if s.redis, err = subject.NewRedis(filepath.Join(s.dir, "redis.log")); err != nil {
		return err
	}
	return s.redis.Start(ctx)
}

// bundle is the bundled server as a series has it.
func (s *stage) bundle(c bench.Cell, pool int) subject.Bundled {
	b := subject.Bundled{Exe: s.Exe, Dir: s.dir, Spec: subject.Spec{
		Replicas: 1, Strategy: s.Grid.Strategy(c.Series), HandlerDelay: c.Handler, Pool: pool, StorePool: pool, Deadline: deadline,
	}}
	if s.redis != nil {
		b.Redis = s.redis.Addr()
	}
	if c.Series == bench.Unprotected {
		b.Env = []string{"FLAG_IDEMPOTENCY_MIDDLEWARE=off"}
	}
	return b
}

// close takes everything down, whatever was started, and also when ctx has ended.
func (s *stage) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownWithin)
	defer cancel()
	var errs []error
	for _, db := range s.databases {
		errs = append(errs, db.close(ctx))
	}
	if s.redis != nil {
		errs = append(errs, s.redis.Kill())
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Stop())
	}
	return errors.Join(errs...)
}

// database is one database whose sessions all commit in one way.
type database struct {
	dsn        string
	addr       string
	fixture    subject.Fixture
	admin      *pgx.Conn
	statements bool // pg_stat_statements is there to be read
	drop       func(context.Context) error
}

const (
	// commitAs holds for every session that begins afterwards, pgbench's too.
	commitAs = `DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET synchronous_commit TO %s', current_database()); END $$`
	// unseen keeps what is asked here out of what is counted.
	unseen        = `SET pg_stat_statements.track = 'none'`
	addStatements = `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`
)

func (s *stage) openDatabase(ctx context.Context, sync string) (db *database, err error) {
	db = &database{}
	if err := s.create(ctx, db, sync); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.close(ctx))
		}
	}()
	bundle := s.bundle(bench.Cell{Series: s.Grid.Reference()}, s.Pool)
	if db.fixture, err = bundle.Prepare(ctx, db.dsn, subject.Seed{Users: users, Cash: cash, Value: 1}); err != nil {
		return db, err
	}
	if db.admin, err = pgx.Connect(ctx, db.dsn); err != nil {
		return db, fmt.Errorf("connect to the database: %w", err)
	}
	if _, err = db.admin.Exec(ctx, fmt.Sprintf(commitAs, sync)); err != nil {
		return db, fmt.Errorf("set synchronous_commit for all sessions of our database: %w; give a role that may create databases (CREATEDB)", err)
	}
	db.statements = db.may(ctx, addStatements) && db.may(ctx, unseen) && db.may(ctx, calls) // the extension may be there, and not be loaded
	if !db.statements {
		s.note("Statements are not counted: pg_stat_statements is not to be had on this server")
	}
	return db, nil
}

// create makes an empty database: of our own server, or of the given one.
func (s *stage) create(ctx context.Context, db *database, sync string) error {
	if s.cluster == nil {
		external, err := pgcluster.External(ctx, s.DSN)
		if err != nil {
			return err
		}
		db.dsn, db.addr, db.drop = external.DSN(), external.Addr(), external.Close
		s.note("The PostgreSQL is a given one: others may use it meanwhile, and its autovacuum and checkpoints come when they come")
		return nil
	}
	name := "bench_" + sync
	db.dsn, db.addr = s.cluster.DSN(name), s.cluster.Addr()
	return s.cluster.CreateDatabase(ctx, name)
}

// note says something once.
func (s *stage) note(text string) {
	for _, n := range s.notes {
		if n == text {
			return
		}
	}
	s.notes = append(s.notes, text)
}

// may tells whether a statement is permitted here.
func (d *database) may(ctx context.Context, sql string) bool {
	_, err := d.admin.Exec(ctx, sql)
	return err == nil
}

// emptied is the state that every measurement starts from. Accounts are 2,000 rows, with room on their pages again.
var emptied = []string{
	`TRUNCATE idempotency_keys, paper_orders, audit_log, positions`,
	`VACUUM (ANALYZE) accounts`,
}

const checkpoint = `CHECKPOINT`

// insufficientPrivilege is PostgreSQL's SQLSTATE for a right that was not granted.
const insufficientPrivilege = "42501"

// reset brings the database back to where it was after the fixture. A role that may not write a checkpoint goes without.
func (d *database) reset(ctx context.Context) error {
	for _, sql := range emptied {
		if _, err := d.admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("empty the tables: %w", err)
		}
	}
	_, err := d.admin.Exec(ctx, checkpoint)
	var refused *pgconn.PgError
	if err != nil && !(errors.As(err, &refused) && refused.Code == insufficientPrivilege) {
		return fmt.Errorf("write a checkpoint: %w", err)
	}
	return nil
}

func (d *database) close(ctx context.Context) error {
	var errs []error
	if d.admin != nil {
		errs = append(errs, d.admin.Close(ctx))
	}
	if d.drop != nil {
		errs = append(errs, d.drop(ctx))
	}
	return errors.Join(errs...)
}
