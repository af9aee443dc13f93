# To be read by the scripts beside it (. docs/bench/peers.sh): puts the load generators that the driver is compared with into a folder, $peers, once,
# and says what it has. vegeta and k6 are built by Go in these versions; wrk is the system's package, and C. Each may be missing: then the
# comparison with it is.
peers=${XDG_CACHE_HOME:-$HOME/.cache}/idemstorm-bench
mkdir -p "$peers"

built() { # NAME PACKAGE VERSION
    go version -m "$peers/$1" 2>/dev/null | grep -q "^	mod	$2	$3	" && return
    GOBIN=$peers timeout 900 go install "$2@$3" 2>"$peers/$1.log"
}

have=
built vegeta github.com/tsenart/vegeta/v12 v12.13.0 && have="vegeta v12.13.0" ||
    echo "vegeta could not be built, so the comparison with it is missing: $(tail -1 "$peers/vegeta.log")"
built k6 go.k6.io/k6 v1.8.1 && have="$have, k6 v1.8.1" ||
    echo "k6 could not be built, so the comparison with it is missing: $(tail -1 "$peers/k6.log")"
command -v wrk >/dev/null || apt-get install -y -qq wrk >"$peers/wrk.log" 2>&1 || true
command -v wrk >/dev/null && have="$have, wrk $(wrk -v 2>&1 | sed -n '1s/^wrk \([^ ]*\).*/\1/p')" ||
    echo "wrk could not be installed, so the comparison with it is missing: install the package wrk"
echo "beside the driver: ${have:-nothing}"
