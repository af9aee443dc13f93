-- +goose Up
-- A session without a user is a service token: it may call what no person owns.
CREATE TABLE sessions (
    token_hash BYTEA PRIMARY KEY,
    user_id    INTEGER REFERENCES users (id) ON DELETE CASCADE,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX idx_sessions_user ON sessions (user_id) WHERE user_id IS NOT NULL;

-- +goose Down
DROP TABLE sessions;
