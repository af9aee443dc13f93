#!/bin/sh
# Compares the driver, in a closed loop and with its full history being written, with vegeta at the same number of workers, against the same
# trivial handler on this machine. The runs alternate; what counts is the median of the paired ratios, and beside it the noise floor: the
# same ratio between runs of vegeta itself.
#
#   docs/bench/driver.sh [ROUNDS] [CLIENTS] [KEYS]
#
# Needs vegeta on PATH or in $VEGETA: go install github.com/tsenart/vegeta/v12@v12.13.0
set -eu
rounds=${1:-7} clients=${2:-32} keys=${3:-200000}
vegeta=${VEGETA:-$(command -v vegeta || true)}
[ -n "$vegeta" ] || { echo "driver.sh: no vegeta; see the head of this file" >&2; exit 2; }
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
go build -o "$work/driver" ./docs/bench/driver
mkfifo "$work/stdin"
"$work/driver" -serve <"$work/stdin" >"$work/url" &
exec 3>"$work/stdin" # the handler lives as long as this is open
trap 'exec 3>&-; wait; rm -rf "$work"' EXIT INT TERM
while [ ! -s "$work/url" ]; do sleep 0.1; done
url=$(cat "$work/url")
printf '%s' '{"symbol":"AAPL","side":"buy","quantity":3,"type":"market"}' >"$work/body"

attack() { # vegeta for SECONDS: requests a second
    printf 'POST %s/api/trading/orders\nContent-Type: application/json\nIdempotency-Key: 0b9f4a86-2f3e-4a55-9f4e-0a3f2f1f3c11\n@%s\n' "$url" "$work/body" |
        "$vegeta" attack -rate 0 -max-workers "$clients" -workers "$clients" -connections "$clients" -duration "$1s" |
        "$vegeta" report -type json | sed 's/.*"throughput":\([0-9.]*\).*/\1/'
}

attack 1 >/dev/null # warm up
i=0
while [ "$i" -lt "$rounds" ]; do
    i=$((i + 1))
    a=$(attack 4) d=$("$work/driver" -target "$url" -clients "$clients" -keys "$keys") b=$(attack 4)
    echo "$a $d $b" | awk '{ printf "vegeta %.0f/s  driver %.0f/s  vegeta %.0f/s  ratio %.3f  noise %.3f\n", $1, $2, $3, 2*$2/($1+$3), $1/$3 }' | tee -a "$work/rounds"
done
sed 's/.*ratio \([0-9.]*\).*/\1/' "$work/rounds" | sort -n | awk '{ r[NR] = $1 }
    END { printf "median ratio driver / vegeta: %.2f (%.2f to %.2f, %d rounds, %s clients)\n", r[int((NR+1)/2)], r[1], r[NR], NR, "'"$clients"'" }'
