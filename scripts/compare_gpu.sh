#!/bin/sh
# SPDX-License-Identifier: MIT
# Compare all devices and libraries of a GPU's machine, from source to results. Needs no network,
# no image library, no installed peer and no gnuplot: the report can be drawn elsewhere.
set -eu
. "$(dirname "$0")/measuring.sh"

usage() {
    cat <<END
usage: scripts/compare_gpu.sh OUT

Builds kallima-measure in Release and runs kallima compare into OUT: results.jsonl,
results.csv, report.html and log.txt. Started again with the same OUT, it goes on where it
stopped. To draw the report again, with charts, where gnuplot is:

    kallima compare --report-only --out OUT

Environment: PEERS    folder with include/ and lib/ of peers (collect_peers.sh)
             PRESET   quick, standard or paper (default: standard)
             BUDGET   seconds after which no case begins, without the build (default: no end)
             DEVICES  such as cpu,cuda:0,opencl:0 (default: all)
             OPTIONS  further options of kallima compare, such as "--min-time 0.02"
             BUILD    where to build (default: a folder in TMPDIR)
             COMMIT   the commit, where there is no git
             KALLIMA_WISDOM  a file of what tuning learnt (default: off, the planner's plans)
END
}

[ $# -eq 1 ] || { usage >&2; exit 2; }
[ "$1" != --help ] || { usage; exit 0; }
command -v cmake >/dev/null || fail "cmake is needed to build and is not installed"
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-${TMPDIR:-/tmp}/kallima-measure-gpu}
use_peers
build
offer_opencl
offer_vulkan
export KALLIMA_WISDOM="${KALLIMA_WISDOM-off}"
mkdir -p "$1"
# shellcheck disable=SC2086
"$build/kallima-measure" compare --out "$1" --preset "${PRESET:-standard}" \
    --devices "${DEVICES:-all}" ${BUDGET:+--budget "$BUDGET"} ${OPTIONS:-}
