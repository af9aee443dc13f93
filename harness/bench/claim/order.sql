-- A fresh order, statement for statement what the bundled server sends: the claim, and the business transaction with the completion. The server
-- looks up the session as well, which is not counted here. pgbench runs it as the floor that the server is measured against.
\set uid random(1, 2000)
\set cents random(500, 40000)
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at) VALUES (gen_random_uuid()::text, :uid, 'POST /api/trading/orders', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', NOW() + interval '24 hours') ON CONFLICT (idem_key, scope_user_id, scope_endpoint) DO NOTHING RETURNING id AS claim_id, (extract(epoch FROM locked_at) * 1000000)::bigint AS claim_us \gset
BEGIN;
UPDATE accounts SET cash_balance = cash_balance - :cents::numeric / 100 WHERE user_id = :uid AND cash_balance - :cents::numeric / 100 >= 0 RETURNING cash_balance::text AS balance, nextval('paper_orders_id_seq') AS order_id \gset
INSERT INTO paper_orders (id, execution_id, leg, user_id, endpoint, idem_key, operation_id, symbol, side, order_type, quantity, price, amount, status) VALUES (:order_id, gen_random_uuid(), 1, :uid, 'POST /api/trading/orders', gen_random_uuid()::text, '1', 'AAPL', 'buy', 'market', 1, :cents::numeric / 100, -(:cents::numeric) / 100, 'filled');
INSERT INTO positions (user_id, symbol, quantity) VALUES (:uid, 'AAPL', 1) ON CONFLICT (user_id, symbol) DO UPDATE SET quantity = positions.quantity + EXCLUDED.quantity;
INSERT INTO audit_log (execution_id, user_id, endpoint, idem_key, operation_id, action, request_hash, response_code) VALUES (gen_random_uuid(), :uid, 'POST /api/trading/orders', gen_random_uuid()::text, '1', 'order_placed', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 201);
UPDATE idempotency_keys SET status = 'completed', response_code = 201, response_body = '{"order_id": 1, "execution_id": "0b9f4a86-2f3e-4a55-9f4e-0a3f2f1f3c11", "status": "filled", "symbol": "AAPL", "side": "buy", "quantity": 1, "price": "123.45", "cash_balance": "999876.55"}' WHERE id = :claim_id AND locked_at = timestamptz 'epoch' + :claim_us * interval '1 microsecond' AND status = 'in_flight';
COMMIT;
