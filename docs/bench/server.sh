#!/bin/sh
# Measures the bundled server against pgbench with the same SQL on the same cluster: fresh orders and replays, requests a second and p99, by as many
# clients in a closed loop, in interleaved rounds of one run; and where the processors' time goes. Some four minutes.
#
#   docs/bench/server.sh [-rounds N] [-clients N] [-length D] [-pool N] [-store-pool N]      docs/bench/server.sh | tee docs/bench/server.txt
#
# pgbench runs the statements that the server sends: harness/bench/claim/order.sql and docs/bench/server/replay.sql, each with the look-up of the
# session before it. What counts is the ratio in pairs of a round; the noise is pgbench against itself. Everything shares the machine's processors.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/idemstorm" ./cmd/idemstorm
go build -o "$work/server" ./docs/bench/server
"$work/server" speed -exe "$work/idemstorm" "$@"
