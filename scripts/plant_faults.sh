#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: plant_faults.sh [FOLDER]
# Plant faults one at a time in a copy of the sources, run the quick suites of the library,
# and print which of them caught each. A fault that none catches is a hole in the tests:
# exit status 1. To be run by hand: it takes some minutes. The copy and its build go to
# FOLDER (default: a temporary one, deleted at the end).
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -gt 0 ]; then
    mkdir -p "$1"
    work=$(cd "$1" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
suites='^(unit-|device-cpu-|golden|oom|threads|fuzz-)'

# name | file | the text that is there, once | the fault
faults() {
    cat <<'END'
none|LICENSE||
twiddle sign|src/device/cpu/tables.c|put(table, 2 * i + 1, root.im)|put(table, 2 * i + 1, -root.im)
twiddle sign in codelets|src/codelet/dft.c|kal_cx_rotate(g, q[k], n, -k)|kal_cx_rotate(g, q[k], n, k)
dropped codelet term|src/codelet/dft.c|kal_sub(g, c.re, s.im), kal_add|c.re, kal_add
wisdom of any driver|src/wisdom/store.c|order = strcmp(x[i], y[i]);|order = i == 1 ? 0 : strcmp(x[i], y[i]);
wisdom written in place|src/wisdom/file.c|kal_text_add(&temporary, "%s" NEW_SUFFIX, s->path);|kal_text_add(&temporary, "%s%s", s->path, suffix);
off-by-one stride|src/pass/lower_four_step.c|rows.out.stride *= n1;|rows.out.stride *= n1 - 1;
END
}

# Replace plain text, not a pattern; fail unless it is there exactly once.
plant() {
    python3 - "$@" <<'END'
import pathlib
import sys

path, before, after = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
text = path.read_text()
if before and text.count(before) != 1:
    sys.exit(f"{path}: \"{before}\" is there {text.count(before)} times, not once")
path.write_text(text.replace(before, after) if before else text)
END
}

run_suites() {
    cmake --build "$work/build" >"$work/build.log" 2>&1 || {
        echo "does not build: $work/build.log"
        return
    }
    ctest --test-dir "$work/build" --tests-regex "$suites" --label-exclude long \
        --timeout 300 >"$work/test.log" 2>&1 || :
    sed -n 's/^.*Test *#[0-9]*: \([^ ]*\) \.*\**\(Failed\|Timeout\|Exception\|Subprocess\).*$/\1/p' \
        "$work/test.log" | tr '\n' ' '
}

mkdir -p "$work/copy"
tar -C "$source" --exclude='./build*' --exclude=./.git --exclude=./demo -cf - . |
    tar -C "$work/copy" -xf -
OMP_WAIT_POLICY=passive
export OMP_WAIT_POLICY
cmake -G Ninja -S "$work/copy" -B "$work/build" -DKALLIMA_TOOLS=OFF -DKALLIMA_EXAMPLES=OFF \
    >"$work/configure.log"

missed=0
printf '%-26s %s\n' fault 'suites that failed'
faults >"$work/faults"
while IFS='|' read -r name file before after; do
    cp "$work/copy/$file" "$work/original"
    plant "$work/copy/$file" "$before" "$after"
    caught=$(run_suites)
    cp "$work/original" "$work/copy/$file"
    printf '%-26s %s\n' "$name" "${caught:--}"
    if [ "$name" = none ]; then
        clean=$caught
    elif [ -z "$caught" ]; then
        missed=$((missed + 1))
    fi
done <"$work/faults"
[ -z "$clean" ] || {
    echo "suites fail without a fault: nothing is shown"
    exit 1
}
[ "$missed" -eq 0 ] || {
    echo "$missed faults were not caught"
    exit 1
}
