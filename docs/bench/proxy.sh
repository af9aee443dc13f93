#!/bin/bash
# What the wire proxy costs: select-only pgbench, direct and through it, in turns
# in one run. Prints each rate and the median of the ratios. Then TPC-B in all three
# protocol modes and a COPY both ways through psql, to see that they pass.
#
# Usage: docs/bench/proxy.sh [seconds per run] [rounds]
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${DIRECT_DSN:-}" ]; then
	exec go run ./docs/bench/wire "$PWD/docs/bench/proxy.sh" "$@"
fi
seconds=${1:-3} rounds=${2:-5}
rounds_file=$(mktemp)
trap 'rm -f "$rounds_file"' EXIT
"$PGBIN/pgbench" -i -q -s 5 "$DIRECT_DSN" >/dev/null 2>&1

rate() { # DSN -> transactions a second
	"$PGBIN/pgbench" -n -S -M prepared -c 8 -j 2 -T "$seconds" "$1" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}
# Rounds are compared in pairs: what else the machine does hits both of a pair.
for round in $(seq "$rounds"); do
	direct=$(rate "$DIRECT_DSN") proxied=$(rate "$PROXIED_DSN") followed=$(rate "$FOLLOWED_DSN")
	awk -v n="$round" -v d="$direct" -v p="$proxied" -v f="$followed" 'BEGIN {
		printf "round %d: direct %.0f tps, proxied %.0f (ratio %.2f), followed %.0f (ratio %.2f)\n", n, d, p, p/d, f, f/d }'
done | tee "$rounds_file"
for way in proxied followed; do
	sed -n "s/.*$way [0-9]* (ratio \([0-9.]*\)).*/\1/p" "$rounds_file" | sort -n |
		sed -n "$(((rounds + 1) / 2))s/^/median ratio, $way: /p"
done

for way in PROXIED FOLLOWED; do
	dsn=${way}_DSN
	for mode in simple extended prepared; do
		"$PGBIN/pgbench" -n -M "$mode" -c 4 -j 2 -t 50 "${!dsn}" 2>&1 | grep 'actually processed' | sed "s/^/$way TPC-B $mode: /"
	done
	sum=$("$PGBIN/psql" -qAt "$DIRECT_DSN" -c 'COPY pgbench_accounts TO STDOUT' | md5sum)
	again=$("$PGBIN/psql" -qAt "${!dsn}" -c 'COPY pgbench_accounts TO STDOUT' | tee >(
		"$PGBIN/psql" -qAt "${!dsn}" -c 'SET client_min_messages = error' -c 'CREATE TABLE IF NOT EXISTS copied (LIKE pgbench_accounts)' -c 'TRUNCATE copied' -c 'COPY copied FROM STDIN'
	) | md5sum)
	[ "$sum" = "$again" ] && echo "$way COPY: same bytes"
done
