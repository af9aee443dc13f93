package idempotency

import "github.com/jackc/pgx/v5"

// ReplayAction is the action of a replay's audit row (contract section 7).
const ReplayAction = "idempotency_replay"

// Auditor writes what the audit log keeps.
type Auditor interface {
	// Business queues the one audit row of an execution into its transaction.
	Business(b *pgx.Batch, req *Request, resp *Response)
	// ReplaySQL is the statement that audits a replay, "" for none. It selects from found, the record as read, with
	// the columns idem_key, scope_user_id, scope_endpoint, request_hash, response_code, operation_id and replay: it
	// must write one row if replay is true, and none otherwise.
	ReplaySQL() string
}

// AuditLog writes to a table audit_log (execution_id, user_id, endpoint, idem_key, operation_id, action, request_hash,
// response_code, detail).
type AuditLog struct{}

const businessAuditSQL = `
INSERT INTO audit_log (execution_id, user_id, endpoint, idem_key, operation_id, action, request_hash, response_code, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// Business implements Auditor.
func (AuditLog) Business(b *pgx.Batch, req *Request, resp *Response) {
	var detail any
	if len(resp.Audit.Detail) > 0 {
		detail = string(resp.Audit.Detail)
	}
	b.Queue(businessAuditSQL, req.ExecutionID, req.Identity.UserID, req.Route.Endpoint, req.KeyOrNil(), req.OperationOrNil(),
		resp.Audit.Action, nullable(req.Hash), resp.Status, detail)
}

const replayAuditSQL = `
INSERT INTO audit_log (user_id, endpoint, idem_key, operation_id, action, request_hash, response_code)
SELECT scope_user_id, scope_endpoint, idem_key, operation_id, '` + ReplayAction + `', request_hash, response_code
FROM found WHERE replay`

// ReplaySQL implements Auditor.
func (AuditLog) ReplaySQL() string { return replayAuditSQL }

// NoAudit keeps no audit log: for services without that table.
type NoAudit struct{}

// Business implements Auditor.
func (NoAudit) Business(*pgx.Batch, *Request, *Response) {}

// ReplaySQL implements Auditor.
func (NoAudit) ReplaySQL() string { return "" }
