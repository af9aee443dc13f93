package evidence

// The bundled server's evidence (contract, section 2). Amounts are NUMERIC(18,2) there and cents here.
const (
	bundledAccounts = `
SELECT user_id AS "user", (cash_balance * 100)::bigint AS cash_cents
FROM accounts ORDER BY user_id`

	bundledPositions = `
SELECT user_id AS "user", symbol, sum(quantity)::bigint AS quantity
FROM positions GROUP BY user_id, symbol`

	bundledOrders = `
SELECT id, execution_id AS execution, leg, user_id AS "user", endpoint, idem_key AS key, operation_id AS operation,
       symbol, side, quantity, (amount * 100)::bigint AS amount_cents, status, created_at AS at
FROM paper_orders ORDER BY id`

	bundledAudits = `
SELECT id, execution_id AS execution, user_id AS "user", endpoint, idem_key AS key, operation_id AS operation,
       action, request_hash AS hash, response_code AS code, created_at AS at
FROM audit_log WHERE action <> 'idempotency_replay' ORDER BY id`

	bundledReplays = `
SELECT id, execution_id AS execution, user_id AS "user", endpoint, idem_key AS key, operation_id AS operation,
       action, request_hash AS hash, response_code AS code, created_at AS at
FROM audit_log WHERE action = 'idempotency_replay' ORDER BY id`

	bundledRecords = `
SELECT id, idem_key AS key, scope_user_id AS "user", scope_endpoint AS endpoint, request_hash AS hash, status,
       response_code AS code, response_body AS body,
       (extract(epoch FROM created_at) * 1000000)::bigint AS created_us,
       (extract(epoch FROM locked_at) * 1000000)::bigint AS locked_us,
       (extract(epoch FROM expires_at) * 1000000)::bigint AS expires_us
FROM idempotency_keys ORDER BY id`
)

// Bundled is the SQL for the bundled reference server's tables.
func Bundled() Queries {
	return Queries{
		Accounts:  bundledAccounts,
		Positions: bundledPositions,
		Orders:    bundledOrders,
		Audits:    bundledAudits,
		Replays:   bundledReplays,
		Records:   bundledRecords,
	}
}
