#!/bin/sh
# Measures the checker on made-up right histories: the whole of `idemstorm check` from files, what `idemstorm report` adds to it and how large its
# page is, and the rules alone.
#
#   docs/bench/checker.sh [RUNS] [OPERATIONS…]      docs/bench/checker.sh 5 10000 100000 1000000 10000000 | tee docs/bench/checker.txt
#
# A history of N operations has N/10 keys of ten duplicates each and 1.1 N attempts; its evidence has an order, an audit row and a record for a key and
# a replay's audit row for nearly every other operation: 360 bytes of JSON an operation. 10^7 of them take 4 GB under $TMPDIR.
# CPU seconds are of both processors together, and say more than seconds on a machine that does something else too.
set -eu
runs=${1:-5}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- 10000 100000 1000000
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/idemstorm" ./cmd/idemstorm
go build -o "$work/checker" ./docs/bench/checker

median() { sort -n | awk '{ v[NR] = $1 } END { printf "%s", v[int((NR + 1) / 2)] }'; }
column() { awk -v c="$2" '{ print $c }' "$1"; }

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg); $(nproc) processors; $runs runs each, medians (the least in brackets)"
echo
echo "operations   check s         CPU s           peak MiB   attempts/CPU s   × CPU of a tenth"
before=
for n in "$@"; do
    "$work/checker" write "$work/run" "$n"
    : >"$work/times"
    i=0
    while [ "$i" -lt "$runs" ]; do
        i=$((i + 1))
        "$work/checker" measure "$work/idemstorm" check "$work/run" >>"$work/times"
    done
    s=$(column "$work/times" 1 | median) cpu=$(column "$work/times" 2 | median) mib=$(column "$work/times" 3 | sort -n | tail -1)
    least=$(column "$work/times" 1 | sort -n | head -1) leastcpu=$(column "$work/times" 2 | sort -n | head -1)
    echo "$n $s $least $cpu $leastcpu $mib ${before:-0}" | awk '{
        printf "%10d   %6.2f (%6.2f) %6.2f (%6.2f)   %8d   %14.0f   %s\n", $1, $2, $3, $4, $5, $6, 1.1 * $1 / $4, ($7 > 0 ? sprintf("%.1f", $5 / $7) : "–") }'
    before=$leastcpu
    if [ "$n" = 1000000 ]; then
        : >"$work/report"
        i=0
        while [ "$i" -lt "$runs" ]; do
            i=$((i + 1))
            "$work/checker" measure "$work/idemstorm" report "$work/run" >>"$work/report"
        done
        echo "$(column "$work/report" 2 | sort -n | head -1) $leastcpu $(wc -c <"$work/run/report.html")" |
            awk '{ page = sprintf("report of 10^6 operations: %.2f CPU s, of which all but %.2f are the check; page %.0f kB", $1, ($1 > $2 ? $1 - $2 : 0), $3 / 1000) } END { print page }' >"$work/page"
        browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
        if [ -n "$browser" ]; then
            : >"$work/open"
            i=0
            while [ "$i" -lt "$runs" ]; do
                i=$((i + 1))
                "$work/checker" measure "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --dump-dom "file://$work/run/report.html" 2>/dev/null >>"$work/open"
            done
            echo "chromium starts, opens it and ends in $(column "$work/open" 1 | median) s ($(column "$work/open" 1 | sort -n | head -1))" >>"$work/page"
        fi
    fi
    rm -rf "$work/run"
done
echo
[ -f "$work/page" ] && cat "$work/page"
echo
echo "rules alone, in memory (go test ./harness/check -run '^$' -bench RulesAlone):"
go test ./harness/check -run '^$' -bench RulesAlone -benchtime 2s -count "$runs" | awk '/^Benchmark/ { print "  " $5, $6 }'
