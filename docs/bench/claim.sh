#!/bin/sh
# The claim strategies against each other, against the same server unprotected, and against pgbench with the same SQL: the quick grid, in
# interleaved runs on a throwaway PostgreSQL. The last output is docs/bench/claim.txt; docs/bench.md says how to read it.
#
#   docs/bench/claim.sh [bench claim's flags…]
set -eu
cd "$(dirname "$0")/../.."
go build -o bin/idemstorm ./cmd/idemstorm
exec bin/idemstorm bench claim --grid quick "$@"
