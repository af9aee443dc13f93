-- +goose Up
CREATE TABLE audit_log (
    id            BIGSERIAL PRIMARY KEY,
    execution_id  UUID,
    user_id       INTEGER,
    endpoint      TEXT NOT NULL,
    idem_key      TEXT,
    operation_id  TEXT,
    action        TEXT NOT NULL,
    request_hash  TEXT,
    response_code SMALLINT,
    detail        JSONB,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

COMMENT ON COLUMN audit_log.execution_id IS 'the run of a business action; NULL for a replay, which runs nothing';

-- +goose Down
DROP TABLE audit_log;
