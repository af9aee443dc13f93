package idempotency

import (
	"context"
	"fmt"
)

// rollbackTries are many: under SERIALIZABLE the database watches pages where rows are meant, so that what is done about other keys
// makes this one's statement fail too, and that says nothing about this key. The request's deadline ends them sooner.
const rollbackTries = 100

// again repeats what changes nothing unless it succeeds, as long as the database rolls it back for its isolation level's sake. That is
// no outage: a route that proceeds without its store must not do so because others were busy.
func again(ctx context.Context, do func() error) (err error) {
	for range rollbackTries {
		if err = do(); !IsSerializationFailure(err) || ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("rolled back %d times: %w", rollbackTries, err)
}
