-- +goose Up
CREATE TABLE waitlist_signups (
    id         BIGSERIAL PRIMARY KEY,
    email      TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

CREATE UNIQUE INDEX uq_waitlist_email ON waitlist_signups (lower(email));

-- +goose Down
DROP TABLE waitlist_signups;
