// Package orderserver is the reference server: a small paper-trading API on PostgreSQL whose write endpoints follow the
// idempotency contract. It stands at the "target" end of the walk: the harness starts it as a subprocess and never
// imports it. Routes are one file each; what they share is money (cents in int64), the price of a symbol, and the strict
// reading of fields. Everything about keys is in package idempotency.
//
// Refusals of the business, all {"error": code, "field": …}: 400 missing_field, unknown_field, invalid_field,
// unknown_order_type (before any claim); 402 insufficient_cash; 403 user_required, service_required; 404
// no_such_position, no_such_order; 422 insufficient_position, email_taken; 502 provider_failed; 503 new_orders_disabled,
// provider_not_configured.
//
// Locks are taken in one order everywhere: account, position, order, audit, record.
package orderserver
