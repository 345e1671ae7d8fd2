#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: check_install.sh BUILD-FOLDER
# Install the build into a prefix of its own, move the prefix, and build and run a program
# against it: by find_package and by pkg-config, shared and static.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >/dev/null
prefix=$work/prefix
mv "$work/first" "$prefix"

for file in include/kallima/kallima.h libkallima.so libkallima.so.0 libkallima.a \
    pkgconfig/kallima.pc doc/kallima/LICENSE man1/kallima.1 bin/kallima; do
    if [ -z "$(find "$prefix" -path "*/$file")" ]; then
        echo "not installed: $file"
        exit 1
    fi
done

if [ -f "$build/libkallima-spirv.so" ] && ! find "$prefix" -name libkallima-spirv.so | grep -q .; then
    echo "not installed: libkallima-spirv.so"
    exit 1
fi

library=$(dirname "$(find "$prefix" -name 'libkallima.so')")
export LD_LIBRARY_PATH="$library"
export PKG_CONFIG_PATH="$library/pkgconfig"

echo "find_package"
cmake -S "$root/tests/install" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/consumer" >/dev/null
"$work/consumer/consumer-shared"
"$work/consumer/consumer-static"

echo "pkg-config $(pkg-config --modversion kallima)"
# shellcheck disable=SC2046 # flags are meant to be split
${CC:-cc} -O2 "$root/tests/install/consumer.c" -o "$work/shared" \
    $(pkg-config --cflags --libs kallima) -lm
"$work/shared"
mkdir "$work/static-only"
cp "$library/libkallima.a" "$work/static-only/"
# The folder of the static library alone comes first, so that the linker takes that one.
# shellcheck disable=SC2046
${CC:-cc} -O2 "$root/tests/install/consumer.c" -o "$work/static" -L"$work/static-only" \
    $(pkg-config --static --cflags --libs kallima)
env -u LD_LIBRARY_PATH "$work/static"

"$prefix/bin/kallima" --version
if [ -f "$build/libkallima-spirv.so" ] && "$prefix/bin/kallima" devices | grep -q '^vulkan:0'; then
    # Finds its module beside the library, wherever that was moved.
    KALLIMA_KERNEL_CACHE='' "$prefix/bin/kallima" plan 8 --device vulkan:0 >/dev/null
fi
