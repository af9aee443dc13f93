#!/bin/sh
# Compares fresh orders through the bundled server with pgbench running the same SQL, on one cluster, at the same number of clients, in
# alternating rounds of one run. What counts is the median of the paired ratios; beside it the noise: pgbench against itself.
#
#   docs/bench/server.sh [-rounds N] [-clients N] [-seconds N]
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/idemstorm" ./cmd/idemstorm
go build -o "$work/server" ./docs/bench/server
"$work/server" -exe "$work/idemstorm" "$@"
