#!/bin/sh
# SPDX-License-Identifier: MIT
# Measure Kallima on this machine's GPUs against the libraries that are there, from source to
# summary. Needs no network, no image library and no installed peer.
set -eu
. "$(dirname "$0")/measuring.sh"

usage() {
    cat <<END
usage: scripts/measure_gpu.sh OUT [CASES]

Builds Kallima in Release, runs verify --quick, then bench over CASES (default:
bench/cases/gpu.txt) on each device: of the default plans or, with TUNE, of plans that are
tuned before. Everything goes to OUT as it is measured: machine.txt,
verify.txt, and for each device a table (API.txt; API-1.txt for API:1) and one JSON object a
line (API.jsonl); summary.txt gathers the ends of the tables.

Environment: PEERS   folder with include/ and lib/ of peers and OpenCL (collect_peers.sh)
             DEVICES devices to measure (default: "cuda:0 opencl:0"); of vulkan:0 and opengl:0
                     alone, as they have no peers
             BUILD   where to build (default: a folder in TMPDIR)
             VERIFY  seconds that verify may take; 0: leave it out (default: 120)
             OPTIONS further options of kallima bench, such as "--min-time 0.1"
             TUNE    options of kallima tune, such as "--effort patient"; its table goes to
                     OUT/tune-API.txt, what it learnt to OUT/wisdom
             COMMIT  the commit, where there is no git
END
}

describe_machine() {
    date -u +"date: %Y-%m-%d %H:%M UTC"
    echo "commit: ${COMMIT:-$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)}"
    echo "compiler: $(cc --version | head -n 1)"
    echo "kernel: $(uname -srm)"
    env | grep -E '^(OMP|GOMP|KALLIMA|CUDA)_' || true
    nvidia-smi -q -d CLOCK,POWER,MEMORY,ECC 2>/dev/null || echo "no nvidia-smi"
    nvidia-smi 2>/dev/null || true
}

peers_of() {
    case $1 in
    cuda) echo cufft,vkfft ;;
    opencl) echo clfft,vkfft ;;
    esac
}

# $1: a device
measure_device() {
    api=${1%%:*}
    name=$(echo "${1%:0}" | tr : -)
    peers=$(peers_of "$api")
    if [ "${VERIFY:-120}" != 0 ] && ! timeout "${VERIFY:-120}" "$measure" --device "$1" \
        verify --quick >>"$out/verify.txt" 2>&1; then
        bad=1
        echo "$1: verify failed or took too long; see verify.txt" | tee -a "$out/summary.txt"
    fi
    export KALLIMA_WISDOM=off
    if [ -n "${TUNE:-}" ]; then
        echo "tuning $1"
        export KALLIMA_WISDOM="$out/wisdom"
        # shellcheck disable=SC2086
        "$measure" --device "$1" tune --cases "$cases" $TUNE --json \
            >"$out/tune-$name.jsonl" 2>"$out/tune-$name.txt" || bad=1
    fi
    echo "measuring $1"
    # shellcheck disable=SC2086
    "$measure" --device "$1" bench --cases "$cases" ${peers:+--peer "$peers"} \
        ${OPTIONS:-} --json >"$out/$name.jsonl" 2>"$out/$name.txt" || bad=1
    { echo "== $1"; sed -n '1,4p' "$out/$name.txt"; sed '1,/^$/d' "$out/$name.txt"; } |
        tee -a "$out/summary.txt"
}

[ $# -ge 1 ] || { usage >&2; exit 2; }
[ "$1" != --help ] || { usage; exit 0; }
command -v cmake >/dev/null || fail "cmake is needed to build and is not installed"
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
cases=${2:-$root/bench/cases/gpu.txt}
build=${BUILD:-${TMPDIR:-/tmp}/kallima-measure-gpu}
measure=$build/kallima-measure
bad=0

use_peers
build
offer_opencl
offer_vulkan
export KALLIMA_KERNEL_CACHE="${KALLIMA_KERNEL_CACHE-$build/kernels}" # plans are cold once
describe_machine >"$out/machine.txt"
: >"$out/summary.txt"
: >"$out/verify.txt"
for device in ${DEVICES:-cuda:0 opencl:0}; do
    measure_device "$device"
done
exit "$bad"
