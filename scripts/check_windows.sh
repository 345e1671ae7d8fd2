#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: check_windows.sh build|run GENERATOR
# build: cross-compile the library, the program and the examples for Windows with mingw-w64, with
#        warnings as errors. GENERATOR is kallima-gen of this machine.
# run:   the same with optimisation, and run them under Wine: `kallima devices`, `verify --quick`
#        on the processor, the examples, and transforms of every kind on Wine's Direct3D 11, in a
#        virtual screen. `KALLIMA_D3D11=verify` has `verify --quick` there too: many minutes.
# 77: what is needed is not installed.
set -eu
cd "$(dirname "$0")/.."
generator=$(realpath "$2")

skip() {
    echo "SKIPPED: $1: NOTHING was $2. See scripts/install_dependencies.sh" >&2
    exit 77
}
command -v x86_64-w64-mingw32-gcc >/dev/null || skip "mingw-w64 is not installed" "built for Windows"
case $1 in
build) type=Debug ;;
run) type=Release ;;
esac
build=build-windows/$1
cmake -G Ninja -S . -B "$build" --toolchain cmake/mingw64.cmake -DCMAKE_BUILD_TYPE=$type \
    -DKALLIMA_GENERATOR="$generator" -DKALLIMA_TESTS=OFF -DKALLIMA_OPENCL=OFF \
    -DKALLIMA_CUDA=OFF -DKALLIMA_WERROR=ON >/dev/null
cmake --build "$build" >"$build/build.log" 2>&1 || {
    grep -E 'error|warning|undefined' "$build/build.log" | head -n 50
    exit 1
}
[ "$1" = run ] || exit 0

wine=/usr/lib/wine/wine64
[ -x "$wine" ] || wine=$(command -v wine64 || command -v wine) ||
    skip "Wine is not installed" "run on Windows"
programs=$build/programs
mkdir -p "$programs"
cp "$build"/libkallima.dll "$build"/tools/kallima.exe "$build"/examples/*.exe "$programs"
root=$PWD
export WINEPREFIX="$root/build-windows/prefix" WINEDEBUG=-all
export WINEDLLOVERRIDES="mscoree=;mshtml=;winemenubuilder.exe=d;d3dcompiler_47=n"
export OMP_WAIT_POLICY=passive KALLIMA_KERNEL_CACHE=off KALLIMA_WISDOM=off
cd "$programs"
kallima() { "$wine" ./kallima.exe "$@"; }

# With a screen and a compiler: $1 is for xvfb-run, which starts this script's last part.
run_direct3d() {
    kallima devices | grep -q '^d3d11:0' || {
        echo "Wine has no device of Direct3D 11, though there is a screen" >&2
        return 1
    }
    "$wine" ./example_d3d11_interop.exe
    KALLIMA_DEVICE=d3d11:0 "$wine" ./example_04_planar_strided.exe
    KALLIMA_DEVICE=d3d11:0 "$wine" ./example_05_tune.exe
    kallima bench --device d3d11:0 --cases "Z:$root/tests/windows/cases.txt"
    [ "${KALLIMA_D3D11:-}" != verify ] || kallima verify --quick --device d3d11:0
}

kallima devices
kallima verify --quick --device cpu
for example in example_0*.exe; do
    "$wine" "./$example" >/dev/null || {
        echo "$example failed" >&2
        exit 1
    }
done

if ! command -v Xvfb >/dev/null; then
    skip "Xvfb is not installed" "run on Direct3D 11"
elif ! "$root/scripts/fetch_vkd3d.sh" "$root/build-windows/vkd3d"; then
    skip "there is no compiler for compute shaders (kernels in HLSL are compiled, and run, by way of glslang all the same)" \
        "run on Direct3D 11"
fi
x86_64-w64-mingw32-gcc -O2 -Wall -Wextra -Werror -shared -static \
    "$root/tests/windows/d3dcompiler.c" -o d3dcompiler_47.dll
export HLSL_COMPILER="$root/tests/windows/compile_hlsl.sh"
export VKD3D_COMPILER="$root/build-windows/vkd3d/vkd3d-compiler"
display=:$((90 + $$ % 100))
Xvfb "$display" -screen 0 640x480x24 >/dev/null 2>&1 &
screen=$!
trap 'kill "$screen"' EXIT
sleep 2
export DISPLAY="$display"
run_direct3d
