#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles alone, as strict C11 and as C++11, without a warning.
set -eu

root=$(dirname "$0")/..
bad=0
for header in "$root"/include/kallima/*.h "$root"/include/kallima/interop/*.h; do
    for compiler in "${CC:-cc} -std=c11 -x c" "${CXX:-c++} -std=c++11 -x c++"; do
        if ! $compiler -I "$root/include" -fsyntax-only -pedantic -Wall -Wextra -Werror "$header"; then
            echo "$header does not compile alone with: $compiler"
            bad=1
        fi
    done
done
exit $bad
