package zoo

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var auditAfterCommit = Variant{
	Name:  "audit-after-commit",
	Class: "audit apart from the action",
	Story: "The audit log is written when all is done, on a connection of its own, since a failing audit must not stop an order. " +
		"A process or a connection that dies in between leaves an order that nobody placed.",
	Seen: "Aguynamedkent7/Veent_HRIS#324: most audit rows are written after the change has committed, and are missing " +
		"when that write fails",
	Invariant: "order-audit-match",
	Scenario:  "commit-lost",
	Explore:   &Exploration{Faults: []string{"cut-before"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Executor = lateAuditExecutor{p.Executor.(*idempotency.TxExecutor)}
		return p
	},
}

// lateAuditExecutor commits the action without its audit row.
type lateAuditExecutor struct{ *idempotency.TxExecutor }

// Execute implements idempotency.Executor.
func (e lateAuditExecutor) Execute(ctx context.Context, a *idempotency.Attempt) (idempotency.Response, error) {
	action := *a
	action.Auditor = idempotency.NoAudit{}
	resp, err := e.TxExecutor.Execute(ctx, &action)
	if err != nil || resp.Audit == nil {
		return resp, err
	}
	b := &pgx.Batch{}
	a.Auditor.Business(b, a.Request, &resp)
	_ = e.Pool.SendBatch(ctx, b).Close()
	return resp, nil
}
