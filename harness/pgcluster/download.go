package pgcluster

import (
	"context"
	"errors"
)

// Download says where server binaries come from when the machine has none.
type Download struct {
	RepositoryURL string
	CacheDir      string
}

const waysOut = "install the PostgreSQL server package, or give --dsn, or run docker compose up"

func (d Download) fetch(ctx context.Context) (string, error) { return "", errors.New("not yet") }
