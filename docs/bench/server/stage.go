package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/subject"
)

const (
	users    = 2000 // as many as pgbench's scripts draw from
	cash     = "1000000000000.00"
	deadline = 10 * time.Second // of the server: a wait shows as a long time, not as a refusal
)

// stage is a throwaway PostgreSQL with everything that measures on it.
type stage struct {
	common
	dir       string
	cluster   *pgcluster.Cluster
	databases []*database
}

// openStage starts the cluster. On an error nothing is left.
func openStage(ctx context.Context, c common, settings map[string]string) (s *stage, err error) {
	s = &stage{common: c}
	if s.dir, err = os.MkdirTemp("", "idemstorm-bench-"); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	if s.cluster, err = pgcluster.Start(ctx, pgcluster.Options{Settings: settings}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// close takes everything down, also when ctx has ended.
func (s *stage) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	var errs []error
	for _, db := range s.databases {
		errs = append(errs, db.close(ctx))
	}
	return errors.Join(append(errs, s.cluster.Stop(), os.RemoveAll(s.dir))...)
}

// database is one database and a server of its own on it.
type database struct {
	*stage
	dsn     string
	admin   *pgx.Conn
	fixture subject.Fixture
	replica *subject.Replica
	plays   uint64 // makes the keys of each measurement others
}

// open makes a migrated and seeded database, and starts a server on it.
func (s *stage) open(ctx context.Context, name string) (*database, error) {
	if err := s.cluster.CreateDatabase(ctx, name); err != nil {
		return nil, err
	}
	db := &database{stage: s, dsn: s.cluster.DSN(name)}
	s.databases = append(s.databases, db)
	bundle := subject.Bundled{Exe: s.exe, Dir: s.dir, Spec: subject.Spec{Pool: s.pool, StorePool: s.store, Deadline: deadline}}
	var err error
	if db.fixture, err = bundle.Prepare(ctx, db.dsn, subject.Seed{Users: users, Cash: cash, Value: 1}); err != nil {
		return nil, err
	}
	if db.admin, err = pgx.Connect(ctx, db.dsn); err != nil {
		return nil, fmt.Errorf("connect to database %s: %w", name, err)
	}
	db.replica = bundle.Replica(len(s.databases), subject.Paths{Database: db.dsn, Store: db.dsn})
	return db, db.replica.Start(ctx)
}

func (d *database) close(ctx context.Context) error {
	var errs []error
	if d.replica != nil {
		errs = append(errs, d.replica.Stop(ctx))
	}
	if d.admin != nil {
		errs = append(errs, d.admin.Close(ctx))
	}
	return errors.Join(errs...)
}

// do runs statements one after another, outside of what is measured.
func (d *database) do(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := d.admin.Exec(ctx, sql); err != nil {
			return fmt.Errorf("prepare the database (%.60s…): %w", sql, err)
		}
	}
	return nil
}
