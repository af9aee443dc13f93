-- +goose Up
CREATE TABLE checkouts (
    id           BIGSERIAL PRIMARY KEY,
    execution_id UUID NOT NULL,
    user_id      INTEGER NOT NULL,
    plan         TEXT NOT NULL,
    amount_cents BIGINT NOT NULL CHECK (amount_cents > 0),
    charge_id    TEXT NOT NULL,
    idem_key     TEXT,
    operation_id TEXT,
    created_at   TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

CREATE TABLE provider_events (
    event_id    TEXT PRIMARY KEY,
    event_type  TEXT NOT NULL,
    received_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

-- +goose Down
DROP TABLE provider_events;
DROP TABLE checkouts;
