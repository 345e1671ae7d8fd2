#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: [JOBS=N] check_windows.sh quick|long GENERATOR
# quick: cross-compile all but AVX-512 for Windows with mingw-w64, warnings as errors,
#        and run a sample of the tests under Wine: on the processor and, in a virtual
#        screen, on Wine's Direct3D 11. GENERATOR is kallima-gen of this machine.
# long:  the same with optimisation, and run all: the tests, `kallima devices`,
#        `verify --quick` on the processor, the examples, and transforms of every kind on
#        Direct3D 11. `KALLIMA_D3D11=verify` has `verify --quick` there too: many minutes.
# 77: what is needed is not installed.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
generator=$(realpath "$2")

skip() {
    echo "SKIPPED: $1: NOTHING was $2. See scripts/install_dependencies.sh" >&2
    exit 77
}
command -v x86_64-w64-mingw32-gcc >/dev/null || skip "mingw-w64 is not installed" "built for Windows"
case $1 in
quick) type=Debug most=avx2 ;;
long) type=Release most= ;;
esac
tests=ON
scripts/fetch_cmocka.sh build-windows/root || tests=OFF
build=build-windows/$1
cmake -G Ninja -S . -B "$build" --toolchain cmake/mingw64.cmake -DCMAKE_BUILD_TYPE=$type \
    -DCMAKE_C_FLAGS_DEBUG= -DKALLIMA_MOST_SIMD=$most -DKALLIMA_GENERATOR="$generator" \
    -DKALLIMA_TESTS=$tests -DKALLIMA_OPENCL=OFF -DKALLIMA_CUDA=OFF -DKALLIMA_WERROR=ON >/dev/null
cmake --build "$build" --parallel "${JOBS:-$(nproc)}" >"$build/build.log" 2>&1 || {
    grep -E 'error|warning|undefined' "$build/build.log" | head -n 50
    exit 1
}

wine=/usr/lib/wine/wine64
[ -x "$wine" ] || wine=$(command -v wine64 || command -v wine) ||
    skip "Wine is not installed" "run on Windows"
programs=$build/programs
mkdir -p "$programs"
cp "$build"/libkallima.dll "$build"/tools/kallima.exe "$build"/examples/*.exe "$programs"
export WINEPREFIX="$root/build-windows/prefix" WINEDEBUG=-all
mkdir -p "$WINEPREFIX"
export WINEDLLOVERRIDES="mscoree=;mshtml=;winemenubuilder.exe=d;d3dcompiler_47=n"
export OMP_WAIT_POLICY=passive KALLIMA_KERNEL_CACHE=off KALLIMA_WISDOM=off
# Programs start faster where the server stays. Several at once have been seen to hang.
server=$(dirname "$wine")/wineserver64
[ -x "$server" ] || server=$(command -v wineserver)
"$server" -p
screen=
trap '"$server" -k || true; [ -z "$screen" ] || kill "$screen"' EXIT
run() { (cd "$programs" && "$wine" "./$@"); }
kallima() { run kallima.exe "$@"; }

# The tests of this build whose names $1 takes and $2 does not. Wine 8's Direct3D hangs
# now and then, where devices are opened and closed: what runs out of time, and nothing
# else, is tried again.
run_tests() {
    [ "$tests" = ON ] || return 0
    set -- -R "$1" -E "$2|^example" $([ "$type" = Release ] || echo "-LE long")
    ctest --test-dir "$build" --output-on-failure --no-tests=error --repeat after-timeout:3 "$@"
}
d3d11='d3d11$|^device-d3d11-'

run_processor() {
    if [ "$type" = Debug ]; then
        run_tests '^(unit-(base|limits|math|pass|problem|wisdom)|device-(cpu.*|null|nulld3d11))$' "unit-d3d11|-long"
        return
    fi
    run_tests . "$d3d11|-long"
    kallima verify --quick --device cpu
    for program in "$programs"/example_0*.exe; do
        run "$(basename "$program")" >/dev/null || {
            echo "$program failed" >&2
            return 1
        }
    done
}

run_direct3d() {
    kallima devices | grep -q '^d3d11:0' || {
        echo "Wine has no device of Direct3D 11, though there is a screen" >&2
        return 1
    }
    run_tests "$d3d11" nulld3d11
    run example_d3d11_interop.exe
    [ "$type" = Release ] || return 0
    KALLIMA_DEVICE=d3d11:0 run example_04_planar_strided.exe
    KALLIMA_DEVICE=d3d11:0 run example_05_tune.exe
    kallima bench --device d3d11:0 --cases "Z:$root/tests/windows/cases.txt"
    [ "${KALLIMA_D3D11:-}" != verify ] || kallima verify --quick --device d3d11:0
}

kallima devices
run_processor
if ! command -v Xvfb >/dev/null; then
    skip "Xvfb is not installed" "run on Direct3D 11"
elif ! scripts/fetch_vkd3d.sh build-windows/vkd3d; then
    skip "there is no compiler for compute shaders (kernels in HLSL are compiled, and run, by way of glslang all the same)" \
        "run on Direct3D 11"
fi
x86_64-w64-mingw32-gcc -O2 -Wall -Wextra -Werror -shared -static tests/windows/d3dcompiler.c \
    -o "$programs/d3dcompiler_47.dll"
[ "$tests" = OFF ] || cp "$programs/d3dcompiler_47.dll" "$build/tests"
export HLSL_COMPILER="$root/tests/windows/compile_hlsl.sh"
export VKD3D_COMPILER="$root/build-windows/vkd3d/vkd3d-compiler"
display=:$((90 + $$ % 100))
Xvfb "$display" -screen 0 640x480x24 >/dev/null 2>&1 &
screen=$!
sleep 2
export DISPLAY="$display"
run_direct3d
[ "$tests" = ON ] ||
    skip "there is no cmocka for Windows" "run of the tests, though the programs did"
