#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: [JOBS=N] check_build.sh asan|asan-long|tsan|neon|neon-long
# Build by another preset, and run the tests that it is for; asan leaves out AVX-512, and
# the tests that compile kernels, measure candidates, or run the program but for its
# readers, which asan-long runs, too; neon has little optimisation, neon-long all of it.
# Ends with that build's own ctest summary.
set -eu

cd "$(dirname "$0")/.."
preset=${1%-long}
jobs=${JOBS:-$(nproc)}

[ "$preset" != neon ] || scripts/fetch_sysroot.sh build-neon/sysroot
options= # what the preset says
case $1 in
asan) options="-DKALLIMA_MOST_SIMD=avx2" ;;
asan-long) options="-DKALLIMA_MOST_SIMD=" ;;
neon) options="-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1" ;;
neon-long) options="-DCMAKE_BUILD_TYPE=Release" ;;
esac
# shellcheck disable=SC2086 # there may be none, or two
cmake --preset "$preset" $options >/dev/null
case $preset in
asan)
    cmake --build --preset asan --parallel "$jobs"
    # The search for leaks crashes now and then at variables of threads of libraries that
    # are loaded at run time, NVRTC's among them, if their addresses are followed. What
    # the two tests that are left out run others do, too: device-opengl-few, by other
    # kernels, and all that make kernels.
    left=device-opengles-few,unit-codelet
    [ "$1" = asan-long ] ||
        left=$left,device-opencl-few,device-opencl-api,device-opengl-few,unit-tune_trial,unit-tune_tuner,unit-tune_data,unit-tune_calibrate,glslang.*,cli-program,cli-compare,cli-tune,cli-filter,cli-transform,cli-bench,cli-wisdom,cli-explain
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:intercept_tls_get_addr=0 \
        UBSAN_OPTIONS=print_stacktrace=1 \
        ctest --test-dir build-asan --output-on-failure --parallel "$jobs" --label-exclude long \
        --exclude-regex "^($(echo "$left" | tr , '|'))\$"
    ;;
tsan)
    cmake --build --preset tsan --parallel "$jobs" \
        --target test_threads test_wisdom test_deal test_tune_tuner test_opengl_worker
    # GNU's OpenMP library is not built for ThreadSanitizer, so transforms run on one thread
    # each; the threads under test are the callers. ThreadSanitizer of older compilers cannot
    # start where addresses are randomised by 32 bits: setarch switches that off.
    fixed=
    if setarch -R true 2>/dev/null; then
        fixed="setarch -R"
    fi
    OMP_NUM_THREADS=1 TSAN_OPTIONS=halt_on_error=1 \
        $fixed ctest --test-dir build-tsan --output-on-failure --tests-regex '^(threads|unit-wisdom|unit-deal)$'
    # Candidates are built on threads for the null device; PoCL has threads of its own.
    OCL_ICD_VENDORS=/nonexistent OMP_NUM_THREADS=1 TSAN_OPTIONS=halt_on_error=1 \
        $fixed ctest --test-dir build-tsan --output-on-failure --tests-regex '^unit-tune_tuner$'
    # What the driver's threads do is not seen.
    TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1 \
        $fixed ctest --test-dir build-tsan --output-on-failure --tests-regex '^unit-opengl_worker$'
    ;;
neon)
    # What depends on the processor: accuracy of every family of transforms and layouts by the
    # program, threads, and roots in another long double. The device suite itself, against an
    # oracle in emulated quad precision, would take an hour.
    cmake --build --preset neon --parallel "$jobs" \
        --target kallima kallima-tool test_device test_threads test_math
    qemu-aarch64 -L build-neon/sysroot build-neon/tools/kallima verify --quick --simd neon
    ctest --test-dir build-neon --output-on-failure --parallel "$jobs" \
        --label-exclude long --tests-regex '^(device-null|device-nullcuda|threads|unit-math)$'
    ;;
*)
    echo "usage: $0 asan|asan-long|tsan|neon|neon-long" >&2
    exit 2
    ;;
esac
