#!/bin/bash
# What the explorer costs, on the reference: a schedule against the same two requests
# uncontrolled through the same proxy (in turns, in one run); two duplicates to the end and
# three at bound 2, under every isolation level; all crash points of a fresh order. Each line
# says whether the search was complete and how long it took, from the tool's own clock.
#
# Usage: docs/bench/explorer.sh [rounds]
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-3}
go build -o bin/idemstorm ./cmd/idemstorm

go test -run '^$' -bench Schedule -benchtime 5x -count "$rounds" ./harness/explore/lab |
	sed -n 's/^BenchmarkSchedule[^ ]*[ \t]*[0-9]*[ \t]*/schedule: /p'

# seen NAME FLAGS…: what one search came to, in one line.
seen() {
	local name=$1
	shift
	bin/idemstorm explore "$@" --json | awk -v name="$name" '
		/^  "complete":/  { complete = $2 }
		/^  "schedules":/ { count = $2 " schedules" }
		/^      "fault":/ { points++ }
		/^  "took_ns":/   { took = $2 / 1e9 }
		/^  "violating":/ { violating = $2 }
		END { if (points) count = points " points"
			printf "%-28s %s in %.2f s, violating %d%s\n", name, count, took, violating, complete ? ", complete: " complete : "" }' | tr -d ,
}
for round in $(seq "$rounds"); do
	for isolation in "" "read committed" "repeatable read" serializable; do
		seen "two, ${isolation:-as it is}" ${isolation:+--isolation "$isolation"}
		seen "three, ${isolation:-as it is}" --requests 3 ${isolation:+--isolation "$isolation"}
	done
	seen "crash points" --crash-points
done
