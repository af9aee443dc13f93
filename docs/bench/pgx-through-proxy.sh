#!/bin/bash
# pgx's own test suite, direct and through the wire proxy: the same tests must
# pass. Exits 1 and names the difference if they do not.
#
# Usage: docs/bench/pgx-through-proxy.sh [package pattern...]   (default: . ./pgconn)
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${DIRECT_DSN:-}" ]; then
	exec go run ./docs/bench/wire "$PWD/docs/bench/pgx-through-proxy.sh" "$@"
fi
[ $# -gt 0 ] || set -- . ./pgconn
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cp -r "$(go list -m -f '{{.Dir}}' github.com/jackc/pgx/v5)" "$work/pgx"
chmod -R u+w "$work/pgx"
cd "$work/pgx"
"$PGBIN/psql" -q "$DIRECT_DSN" -c 'CREATE DATABASE pgx_test' 2>/dev/null || true

results() { # DSN -> one line a test
	# Some tests need a server set up as pgx's own CI does and fail both ways: only differences count.
	{ PGX_TEST_DATABASE="${1/\/postgres?/\/pgx_test?}" go test -mod=mod -count=1 -p 1 -timeout 5m -json "${@:2}" 2>/dev/null || true; } |
		sed -n 's/.*"Action":"\(pass\|fail\|skip\)".*"Package":"\([^"]*\)".*"Test":"\([^"]*\)".*/\2 \3 \1/p' | sed 's/[0-9]\{6,\}/N/g' | sort -u
}
# A followed step reaches the database in one go. These tests let the server's statement_timeout strike
# between two messages of one step, which is therefore not possible through a controller's proxy.
one_go=TimeoutBetweenParseAndDescribe

results "$DIRECT_DSN" "$@" >"$work/direct"
status=0
for way in PROXIED FOLLOWED; do
	dsn=${way}_DSN
	results "${!dsn}" "$@" >"$work/$way"
	echo "direct: $(grep -c ' pass$' "$work/direct") passed; $way: $(grep -c ' pass$' "$work/$way") passed"
	except=$([ "$way" = FOLLOWED ] && echo "$one_go" || echo '^$')
	diff <(grep -v "$except" "$work/direct") <(grep -v "$except" "$work/$way") || status=1
done
exit $status
