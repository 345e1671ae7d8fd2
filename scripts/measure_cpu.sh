#!/bin/sh
# SPDX-License-Identifier: MIT
# Measure Kallima on this machine's processor against FFTW, from source to summary.
set -eu

usage() {
    cat <<END
usage: scripts/measure_cpu.sh OUT [NAME=DIR]...

Builds Kallima in Release, runs verify --quick, then bench over the standard cases against
the FFTW that the system's loader finds and against every FFTW in DIR/lib (such as
honest=DIR from build_fftw.sh), with one thread and with all. Everything goes to OUT as it
is measured: machine.txt, verify.txt, and for each FFTW and number of threads a table
(.txt) and one JSON object a line (.jsonl); summary.txt gathers the ends of the tables.

Environment: CASES   case file (default: bench/cases/cpu.txt)
             THREADS numbers of threads (default: "1 N", N processors)
             OPTIONS further options of kallima bench, such as "--min-time 0.1"
             SYSTEM  0: leave the system's FFTW out
             COMMIT  the commit, where there is no git
END
}

fail() {
    echo "measure_cpu.sh: $*" >&2
    exit 1
}

describe_machine() {
    date -u +"date: %Y-%m-%d %H:%M UTC"
    echo "commit: ${COMMIT:-$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)}"
    echo "compiler: $(cc --version | head -n 1)"
    echo "kernel: $(uname -srm)"
    echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
    env | grep -E '^(OMP|GOMP|KALLIMA)_' || true
    lscpu 2>/dev/null || grep -m 1 'model name' /proc/cpuinfo
}

build() {
    cmake -S "$root/bench" -B "$out/build" -DCMAKE_BUILD_TYPE=Release >"$out/build.log" 2>&1 &&
        cmake --build "$out/build" --target kallima-measure --parallel "$processors" \
            >>"$out/build.log" 2>&1 || fail "the build failed; see $out/build.log"
}

# $1: the name of an FFTW; $2: its folder, empty for the system's; $3: threads
bench() {
    name="$out/fftw-$1-$3"
    echo "measuring against FFTW ($1), threads: $3"
    # shellcheck disable=SC2086
    "$measure" --device cpu --threads "$3" bench --cases "$cases" --peer fftw \
        ${2:+--fftw-dir "$2"} ${OPTIONS:-} --json >"$name.jsonl" 2>"$name.txt" || bad=1
    {
        echo "== FFTW ($1), threads: $3"
        if [ -s "$name.jsonl" ]; then
            sed -n '1,2p' "$name.txt"
            sed '1,/^$/d' "$name.txt"
        else
            cat "$name.txt"
        fi
    } | tee -a "$out/summary.txt"
}

[ $# -ge 1 ] || { usage >&2; exit 2; }
[ "$1" != --help ] || { usage; exit 0; }
command -v cmake >/dev/null || fail "cmake is needed to build and is not installed"
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
processors=$(nproc)
cases=${CASES:-$root/bench/cases/cpu.txt}
[ "$processors" -gt 1 ] && every="1 $processors" || every=1
measure=$out/build/kallima-measure
bad=0

export KALLIMA_WISDOM=off # the default plans
describe_machine >"$out/machine.txt"
build
: >"$out/summary.txt"
if "$measure" --device cpu verify --quick >"$out/verify.txt" 2>&1; then
    echo "verify: all errors are within their bounds" | tee -a "$out/summary.txt"
else
    bad=1
    echo "verify: failed; see verify.txt" | tee -a "$out/summary.txt"
fi
for threads in ${THREADS:-$every}; do
    [ "${SYSTEM:-1}" = 0 ] || bench system "" "$threads"
    for peer in "$@"; do
        bench "${peer%%=*}" "${peer#*=}" "$threads"
    done
done
exit "$bad"
