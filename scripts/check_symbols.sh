#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: check_symbols.sh libkallima.so libkallima.a
# The shared library exports kallima_* alone, and every public function; globals of the
# static library begin with kallima_ or kal_.
set -eu

shared=$1
static=$2
root=$(dirname "$0")/..
bad=0

exported=$(nm -D --defined-only "$shared" | awk '{ print $NF }' | sort -u)
stray=$(echo "$exported" | grep -v '^kallima_' || true)
if [ -n "$stray" ]; then
    echo "$shared exports:" $stray
    bad=1
fi

# Names that the compiler makes for a named OpenMP critical section are shared by design.
stray=$(nm -g --defined-only "$static" 2>/dev/null | awk 'NF == 3 { print $NF }' |
    grep -Ev '^(kallima_|kal_|\.gomp_)' | sort -u || true)
if [ -n "$stray" ]; then
    echo "$static has globals:" $stray
    bad=1
fi

declared=$(cat "$root"/include/kallima/*.h "$root"/include/kallima/interop/*.h | tr '\n' ' ' |
    grep -oE 'KALLIMA_API [^;(]*\(' | grep -oE 'kallima_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u)
[ -n "$declared" ] || {
    echo "no public function found in include/kallima/"
    exit 1
}
for name in $declared; do
    if ! echo "$exported" | grep -qx "$name"; then
        echo "$shared does not export $name(), which the headers declare"
        bad=1
    fi
done
for name in $exported; do
    if ! echo "$declared" | grep -qx "$name"; then
        echo "$shared exports $name(), which no header declares"
        bad=1
    fi
done
exit $bad
