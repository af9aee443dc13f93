#!/bin/bash
# What the wire proxy costs: select-only pgbench, direct and through it, in turns
# in one run. Prints each rate and the ratios of the medians. Then TPC-B in all three
# protocol modes and a COPY both ways through psql, to see that they pass.
#
# Usage: docs/bench/proxy.sh [seconds per run] [rounds]
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${DIRECT_DSN:-}" ]; then
	exec go run ./harness/pgwire/wirebench "$PWD/docs/bench/proxy.sh" "$@"
fi
seconds=${1:-3} rounds=${2:-3}
"$PGBIN/pgbench" -i -q -s 5 "$DIRECT_DSN" >/dev/null 2>&1

rate() { # DSN -> transactions a second
	"$PGBIN/pgbench" -n -S -M prepared -c 8 -j 2 -T "$seconds" "$1" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}
median() { sort -n | sed -n "$(((rounds + 1) / 2))p"; }
declare -A rates
for round in $(seq "$rounds"); do
	for way in DIRECT PROXIED FOLLOWED; do
		dsn=${way}_DSN
		r=$(rate "${!dsn}")
		rates[$way]+="$r"$'\n'
		printf 'round %s  %-9s %10.0f tps\n' "$round" "$way" "$r"
	done
done
direct=$(printf %s "${rates[DIRECT]}" | median)
for way in PROXIED FOLLOWED; do
	printf %s "${rates[$way]}" | median | awk -v d="$direct" -v w="$way" '{ printf "%-9s / DIRECT  %.2f\n", w, $1 / d }'
done

for way in PROXIED FOLLOWED; do
	dsn=${way}_DSN
	for mode in simple extended prepared; do
		"$PGBIN/pgbench" -n -M "$mode" -c 4 -j 2 -t 50 "${!dsn}" 2>&1 | grep 'actually processed' | sed "s/^/$way TPC-B $mode: /"
	done
	sum=$("$PGBIN/psql" -qAt "$DIRECT_DSN" -c 'COPY pgbench_accounts TO STDOUT' | md5sum)
	again=$("$PGBIN/psql" -qAt "${!dsn}" -c 'COPY pgbench_accounts TO STDOUT' | tee >(
		"$PGBIN/psql" -qAt "${!dsn}" -c 'CREATE TABLE IF NOT EXISTS copied (LIKE pgbench_accounts)' -c 'TRUNCATE copied' -c 'COPY copied FROM STDIN'
	) | md5sum)
	[ "$sum" = "$again" ] && echo "$way COPY: same bytes"
done
