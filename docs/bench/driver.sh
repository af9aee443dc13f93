#!/bin/sh
# The driver in a closed loop, with its whole history being written, against vegeta, k6 and wrk with as many workers, on the same trivial handler: requests
# a second, processor time a request of the generator and of the handler, the paired ratios, and the noise floor of each generator
# against itself. Every answer is looked up in the driver's history before a run counts. The last output is docs/bench/driver.txt; four minutes.
#
#   docs/bench/driver.sh [-rounds N] [-clients N] [-length 3s]
#
# vegeta writes its results to a file, as the driver does; k6 and wrk keep sums only. The processor time of a generator is that of its whole process:
# planning is in the driver's, reading a script in k6's.
set -eu
cd "$(dirname "$0")/../.."
. docs/bench/peers.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
go build -o "$work/driver" ./docs/bench/driver
"$work/driver" closed -peers "$peers" "$@"
