package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var businessAuditOnReplay = Variant{
	Name:  "business-audit-on-replay",
	Class: "replay audited as business",
	Story: "The audit log is written where the answer leaves, and a replay leaves there too. By the log there were as many orders " +
		"as there were answers.",
	Seen:      "elderfo/websnag#81: a delivery that is repeated is handled again; the update does no harm twice, its audit rows double",
	Invariant: "order-audit-match",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Auditor = everyAnswerAuditor{p.Auditor}
		return p
	},
}

// everyAnswerAuditor repeats the business row beside the replay's.
type everyAnswerAuditor struct{ idempotency.Auditor }

const everyAnswerSQL = `
INSERT INTO audit_log (execution_id, user_id, endpoint, idem_key, operation_id, action, request_hash, response_code)
SELECT NULL, scope_user_id, scope_endpoint, idem_key, operation_id, '` + idempotency.ReplayAction + `', request_hash, response_code
FROM found WHERE replay
UNION ALL
SELECT DISTINCT a.execution_id, a.user_id, a.endpoint, a.idem_key, f.operation_id, a.action, a.request_hash, a.response_code
FROM found f JOIN audit_log a ON a.idem_key = f.idem_key AND a.user_id = f.scope_user_id AND a.endpoint = f.scope_endpoint
WHERE f.replay AND a.execution_id IS NOT NULL`

// ReplaySQL implements idempotency.Auditor.
func (everyAnswerAuditor) ReplaySQL() string { return everyAnswerSQL }
