#!/bin/sh
# What the driver holds in memory during ten minutes of a closed loop at full speed, with its whole history being written: its resident memory and its
# live heap, the slope of each, and the end of the run against its beginning. The last output is docs/bench/driver-memory.txt. The history
# takes some 2 GB under $TMPDIR; it is read to its end afterwards, and the answers in it are counted.
#
#   docs/bench/driver-memory.sh [-length 10m] [-every 10s] [-clients 32]
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/driver" ./docs/bench/driver
"$work/driver" memory "$@"
