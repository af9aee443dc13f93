-- +goose Up
-- fillfactor leaves room on the page, so that a balance changes without touching an index.
CREATE TABLE accounts (
    user_id      INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    cash_balance NUMERIC(18,2) NOT NULL CHECK (cash_balance >= 0)
) WITH (fillfactor = 70);

-- +goose Down
DROP TABLE accounts;
