#!/bin/sh
# Measures how the bundled server recovers from each kind of fault: runs every scenario that has faults, some times with different seeds, and
# writes docs/recovery.json and the table in docs/faults.md that is made from it.
#
#   docs/bench/recovery.sh [runs of each scenario, default 3]
set -eu
cd "$(dirname "$0")/../.."
runs=${1:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/idemstorm" ./cmd/idemstorm
for scenario in $(grep -l '^faults:' scenarios/*.yaml | xargs -n 1 basename -s .yaml); do
	for seed in $(seq "$runs"); do
		"$work/idemstorm" run "$scenario" --seed "$seed" --out "$work/runs/$seed-$scenario" >"$work/out" 2>&1 ||
			{ echo "$scenario, seed $seed: exit $?"; tail -n 4 "$work/out"; } >&2
	done
done
go run ./docs/bench/recovery "$work/runs" >"$work/recovery.json"
mv "$work/recovery.json" docs/recovery.json
go test ./harness/fault -run TestTheTableOfFaults -update
