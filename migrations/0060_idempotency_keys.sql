-- +goose Up
-- fillfactor leaves room on the page for the one update that every claim sees.
CREATE TABLE idempotency_keys (
    id             BIGSERIAL PRIMARY KEY,
    idem_key       TEXT NOT NULL,
    scope_user_id  INTEGER REFERENCES users (id) ON DELETE CASCADE,
    scope_endpoint TEXT NOT NULL,
    request_hash   TEXT NOT NULL,
    response_code  SMALLINT,
    response_body  JSONB,
    status         TEXT NOT NULL DEFAULT 'in_flight' CHECK (status IN ('in_flight', 'completed', 'failed')),
    created_at     TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    locked_at      TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    expires_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT uq_idem_key_user_endpoint UNIQUE (idem_key, scope_user_id, scope_endpoint),
    CONSTRAINT ck_idem_keys_ttl CHECK (expires_at <= created_at + INTERVAL '7 days')
) WITH (fillfactor = 50);

CREATE INDEX idx_idem_keys_expires ON idempotency_keys (expires_at) WHERE status IN ('completed', 'failed');
CREATE INDEX idx_idem_keys_user ON idempotency_keys (scope_user_id) WHERE scope_user_id IS NOT NULL;

-- +goose Down
DROP TABLE idempotency_keys;
