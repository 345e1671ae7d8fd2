#!/bin/sh
# SPDX-License-Identifier: MIT
# Check Kallima on this machine's GPUs: the device suite, verify and compute-sanitizer, each shared
# out among as many processes as there are processors, as compilers take most of the time.
set -eu
. "$(dirname "$0")/measuring.sh"

usage() {
    cat <<END
usage: scripts/check_gpu.sh OUT

Runs, on each device, all groups of build/tests/test_device, then kallima verify, then
compute-sanitizer over the group "few" (CUDA alone). What each process said goes to OUT/logs, a
line for each check to OUT/summary.txt. Exit status 1 if anything failed or did not end.

Environment: BUILD    folder where Kallima was built with its tests (default: build)
             KALLIMA  the program that verifies (default: BUILD/tools/kallima)
             DEVICES  devices to check (default: "cuda:0 opencl:0")
             CHECKS   which, and in which order (default: "suite verify memcheck racecheck")
             SUITE    options of test_device, such as --long
             JOBS     processes of each check (default: one for each processor)
             LIMIT    seconds that each check may take; 0: any number (default: 0)
END
}

# Shares of the checks. $1: a device, $2: the share, from 0/N on.
run_suite() {
    status=0
    if [ "${2%/*}" = 0 ]; then # what has no trials to be shared out
        "$build/tests/test_device" "$1" ${SUITE:-} --group api || status=1
        "$build/tests/test_device" "$1" ${SUITE:-} --group operations || status=1
    fi
    for group in few lengths large layouts properties recipes; do
        "$build/tests/test_device" "$1" ${SUITE:-} --group $group --part "$2" || status=1
    done
    return $status
}

run_verify() {
    "$kallima" --device "$1" verify --json --part $((${2%/*} + 1))/${2#*/} # they count from 1 on
}

# $1: memcheck or racecheck, $2: a device, $3: the share
run_sanitizer() {
    compute-sanitizer --tool "$1" --error-exitcode 9 \
        "$build/tests/test_device" "$2" --group few --part "$3"
}

# What the shares said, in one line. $1: the logs' names up to the share.
count_rows() {
    cat "$logs/$1"-*.txt | sed -n 's/^ *[a-z0-9_]*: \([0-9]*\) rows, \([0-9]*\) failed$/\1 \2/p' |
        awk '{ rows += $1; failed += $2 } END { printf "%d rows, %d failed", rows, failed }'
}

count_problems() {
    cat "$logs/$1"-*.txt | sed -n 's/.*"problems": \([0-9]*\), "failures": \([0-9]*\).*/\1 \2/p' |
        awk '{ all += $1; failed += $2 } END { printf "%d problems, %d failed", all, failed }'
}

count_errors() {
    printf "%s, " "$(count_rows "$1")"
    cat "$logs/$1"-*.txt | sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p
        s/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' |
        awk '{ errors += $1 } END { printf "%d errors in %d processes", errors, NR }'
}

# $1: a device, $2: a check, $3: a share, $4: the log
run_share() {
    status=0
    timeout "${LIMIT:-0}" sh "$0" --share "$2" "$1" "$3" >"$4" 2>&1 </dev/null || status=$?
    echo "exit status $status" >>"$4"
}

# $1: a device, $2: a check, $3: how to count
check() {
    name=$(echo "$1" | tr : -)-$2
    began=$(date +%s)
    rm -f "$logs/$name"-*.txt
    part=0
    while [ "$part" -lt "$jobs" ]; do
        run_share "$1" "$2" "$part/$jobs" "$logs/$name-$part.txt" &
        part=$((part + 1))
    done
    wait
    ended=$(cat "$logs/$name"-*.txt | grep -c '^exit status 0$') || true
    [ "$ended" = "$jobs" ] || bad=1
    echo "$1 $2: $($3 "$name"); $ended of $jobs processes ended well, $(($(date +%s) - began)) s" |
        tee -a "$out/summary.txt"
}

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build}
kallima=${KALLIMA:-$build/tools/kallima}
jobs=${JOBS:-$(nproc)}
case ${1:-} in
'' | -h | --help) usage && exit 0 ;;
--share)
    case $2 in
    suite | verify) "run_$2" "$3" "$4" ;;
    *) run_sanitizer "$2" "$3" "$4" ;;
    esac
    exit
    ;;
esac
[ -x "$build/tests/test_device" ] || fail "no $build/tests/test_device; build the project first"
mkdir -p "$1/logs"
out=$1 logs=$1/logs
offer_opencl
export BUILD="$build" KALLIMA="$kallima" KALLIMA_WISDOM=off
bad=0
for device in ${DEVICES:-cuda:0 opencl:0}; do
    for check in ${CHECKS:-suite verify memcheck racecheck}; do
        case $check:$device in
        suite:*) check "$device" suite count_rows ;;
        verify:*) check "$device" verify count_problems ;;
        *check:cuda*) check "$device" "$check" count_errors ;;
        *check:*) ;;
        *) fail "no check \"$check\"" ;;
        esac
    done
done
exit $bad
