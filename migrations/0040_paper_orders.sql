-- +goose Up
-- No foreign key to users: the ledger outlives an erased user. No unique constraint on idem_key either: that an order
-- is placed once must follow from the claim alone, else this table would hide a broken claim.
CREATE TABLE paper_orders (
    id           BIGSERIAL PRIMARY KEY,
    execution_id UUID NOT NULL,
    leg          SMALLINT NOT NULL DEFAULT 1,
    user_id      INTEGER NOT NULL,
    endpoint     TEXT NOT NULL,
    idem_key     TEXT,
    operation_id TEXT,
    symbol       TEXT NOT NULL,
    side         TEXT NOT NULL CHECK (side IN ('buy', 'sell')),
    order_type   TEXT NOT NULL CHECK (order_type IN ('market', 'limit')),
    quantity     BIGINT NOT NULL CHECK (quantity > 0),
    price        NUMERIC(18,2) NOT NULL,
    amount       NUMERIC(18,2) NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('filled', 'open', 'cancelled')),
    created_at   TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

COMMENT ON COLUMN paper_orders.amount IS 'signed effect on cash: negative for a filled buy, 0 while open';

-- +goose Down
DROP TABLE paper_orders;
