#!/bin/sh
# Measures the bundled server beside many records: fresh orders, and the claim alone, with ten million records in the table against an empty one; and
# fresh orders beside `idemstorm cleanup` of a million expired records against the same without it. An open loop at a fixed rate, far from what
# the server can do, so that a p99 is a time and not a queue.
#
#   docs/bench/retention.sh [-rows N] [-expired N] [-rate N] [-rounds N] [-length D] [-wait]      docs/bench/retention.sh | tee docs/bench/retention.txt
#
# It takes 14 GB under $TMPDIR and some 20 minutes, four of them for filling the table; -wait stops before either part, until Enter.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/idemstorm" ./cmd/idemstorm
go build -o "$work/server" ./docs/bench/server
"$work/server" retention -exe "$work/idemstorm" "$@"
