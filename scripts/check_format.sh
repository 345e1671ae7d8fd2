#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: check_format.sh [--fix]
# Every C file is as .clang-format says; --fix rewrites those that are not. Versions of
# clang-format disagree in details: the one that decides is 14, Debian 12's. It leaves
# comments alone: lines of these have at most 100 columns.
set -eu

cd "$(dirname "$0")/.."
version=$(clang-format --version | grep -oE '[0-9]+' | head -n 1)
if [ "${1:-}" = --fix ]; then
    mode=-i
else
    mode="--dry-run --Werror"
    if [ "$version" -ne 14 ]; then
        echo "clang-format is $version, not 14: not checked"
        exit 77
    fi
fi
sources() { find include src tools bench tests examples -name '*.[ch]' -print0; }
sources | xargs -0 awk '
    length > 100 && /^ *(\/\/|\/?\*)/ {
        print FILENAME ":" FNR ": a comment of " length " columns; at most 100"
        wrong = 1
    }
    END { exit wrong }'
# shellcheck disable=SC2086 # the mode is meant to be split
sources | xargs -0 clang-format $mode
