#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: check_format.sh [--fix]
# Every C file is as .clang-format says; --fix rewrites those that are not. Versions of
# clang-format disagree in details: the one that decides is 14, Debian 12's.
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
# shellcheck disable=SC2086 # the mode is meant to be split
find include src tools bench tests examples -name '*.[ch]' -print0 | xargs -0 clang-format $mode
