-- One row for each execution; the key is kept as evidence alone, and nothing here keeps it unique: that is the library's work.
CREATE TABLE orders (
    id       bigserial PRIMARY KEY,
    idem_key text NOT NULL,
    item     text NOT NULL,
    quantity int  NOT NULL
);
