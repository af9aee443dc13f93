package idempotency

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrOutcomeUnknown says that the commit was sent and its answer was not seen: the action may have happened.
var ErrOutcomeUnknown = errors.New("the outcome of the commit is unknown")

// Attempt is one run of an action, with a claim or, on a request without a key, without one.
type Attempt struct {
	Request   *Request
	Claim     *Claim
	Completer Completer
	Auditor   Auditor
}

// Executor runs an attempt's action. It returns the action's answer and nil only if everything is committed.
type Executor interface {
	Execute(ctx context.Context, a *Attempt) (Response, error)
}

// TxExecutor runs action, audit and completion in one transaction, and never twice (contract section 6.2, 6.4).
type TxExecutor struct {
	Pool *pgxpool.Pool
}

// unit is a business transaction, begun or not.
type unit interface {
	Tx
	commit(ctx context.Context) error
	rollback()
}

// Execute implements Executor.
func (e *TxExecutor) Execute(ctx context.Context, a *Attempt) (Response, error) {
	tx := e.open(a.Claim)
	defer tx.rollback() // nothing to do after a commit
	req := a.Request
	req.ExecutionID = uuid.New()
	req.Later = &pgx.Batch{}
	resp, err := runAction(ctx, tx, req)
	if err != nil {
		return resp, err
	}
	if resp.Audit != nil {
		a.Auditor.Business(req.Later, req, &resp)
	}
	if a.Claim != nil {
		a.Completer.Complete(req.Later, a.Claim, req, &resp)
	}
	if req.Later.Len() > 0 {
		if err := tx.SendBatch(ctx, req.Later).Close(); err != nil {
			return Response{}, fmt.Errorf("write effects and completion: %w", err)
		}
	}
	return resp, tx.commit(ctx)
}

func (e *TxExecutor) open(claim *Claim) unit {
	if claim != nil && claim.Tx != nil {
		return givenTx{claim.Tx}
	}
	return &lazyTx{pool: e.Pool}
}

// failedAnswer is the error of an action that answered 400 or above: its answer goes out, its writes do not stay.
type failedAnswer struct{ resp Response }

func (f *failedAnswer) Error() string { return fmt.Sprintf("action answered %d", f.resp.Status) }

// panicked is the error of an action that panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("action panicked: %v\n%s", p.value, p.stack) }

func runAction(ctx context.Context, tx Tx, req *Request) (resp Response, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	resp, err = req.Route.Action(ctx, tx, req)
	if err == nil && resp.Status >= http.StatusBadRequest {
		err = &failedAnswer{resp}
	}
	return resp, err
}

// commitError tells a commit that surely did not happen from one whose outcome is unknown. Only an answer of the
// database that it rolled back counts as sure, or that nothing was sent: everything else may be a lost acknowledgement.
func commitError(err error) error {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		switch {
		case IsSerializationFailure(err), len(pgErr.Code) == 5 && pgErr.Code[:2] == "23":
			return fmt.Errorf("commit: %w", err)
		}
	}
	if pgconn.SafeToRetry(err) {
		return fmt.Errorf("commit was not sent: %w", err)
	}
	return fmt.Errorf("commit: %w: %w", ErrOutcomeUnknown, err)
}
