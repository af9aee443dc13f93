#!/bin/sh
# The driver in an open loop: how much later than due its requests leave, at 2,000 a second; and what it says of a server that answers nothing for a
# second, beside the truth, which can be computed, and what vegeta and k6 say. The last output is docs/bench/openloop.txt; seven minutes.
#
#   docs/bench/openloop.sh [lateness | stall] [-flags of that part, see -h]
set -eu
cd "$(dirname "$0")/../.."
. docs/bench/peers.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/driver" ./docs/bench/driver
if [ $# -gt 0 ]; then
    part=$1
    shift
    "$work/driver" "$part" -peers "$peers" "$@"
    exit
fi
"$work/driver" lateness -peers "$peers"
echo
"$work/driver" stall -peers "$peers"
