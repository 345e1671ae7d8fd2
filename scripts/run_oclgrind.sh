#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: run_oclgrind.sh PROGRAM [ARGUMENT...]
# Run a program on oclgrind's device, and fail if it found a race, an access outside memory or
# a barrier that not all of a group reach. Its own exit status tells nothing of that.
set -eu

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
oclgrind --data-races --log "$log" "$@" || status=$?
if [ -s "$log" ]; then
    head -n 40 "$log"
    status=1
fi
exit $status
