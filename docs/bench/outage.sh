#!/bin/sh
# Keeps the key store out for a minute, first refused, then hanging, at 500 requests a second on a money route. Prints every five seconds how the
# server's memory and goroutines went, how late its slowest 503 was, and how soon it served again. Exit code 1 when a bound is missed.
#
#   docs/bench/outage.sh [-length 60s] [-rate 500] [kind of fault, default path-refuse and path-hang …]
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/idemstorm" ./cmd/idemstorm
go build -o "$work/outage" ./docs/bench/outage
"$work/outage" -exe "$work/idemstorm" "$@"
