CREATE TABLE shop_orders (
    id BIGSERIAL PRIMARY KEY,
    request_key TEXT NOT NULL,
    reference TEXT NOT NULL,
    item TEXT NOT NULL,
    quantity INTEGER NOT NULL
);
CREATE TABLE claims (
    request_key TEXT PRIMARY KEY,
    item TEXT NOT NULL,
    order_id BIGINT
);
CREATE TABLE heartbeat (at TIMESTAMPTZ NOT NULL);
INSERT INTO heartbeat VALUES (now());
