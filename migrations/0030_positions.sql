-- +goose Up
-- Positions hang on the account, whose row every order locks first: their foreign key check then waits for nobody.
CREATE TABLE positions (
    id         BIGSERIAL PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    symbol     TEXT NOT NULL,
    quantity   BIGINT NOT NULL CHECK (quantity >= 0),
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    CONSTRAINT uq_positions_user_symbol UNIQUE (user_id, symbol)
) WITH (fillfactor = 70);

-- +goose Down
DROP TABLE positions;
