\set uid random(1, 2000)
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at) VALUES (gen_random_uuid()::text, :uid, 'POST /api/trading/orders', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', NOW() + interval '24 hours') ON CONFLICT DO NOTHING RETURNING id, locked_at;
