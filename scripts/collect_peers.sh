#!/bin/sh
# SPDX-License-Identifier: MIT
# Copy the headers and libraries of clFFT, VkFFT and OpenCL of this machine to a folder that
# measure_gpu.sh takes as PEERS on a machine without their packages (on Debian: libclfft-dev,
# libvkfft-dev, opencl-c-headers, ocl-icd-opencl-dev).
set -eu

[ $# -eq 1 ] || { echo "usage: scripts/collect_peers.sh DIR" >&2; exit 2; }
mkdir -p "$1/include" "$1/lib"
for header in CL clFFT.h clFFT.version.h vkFFT.h; do
    [ ! -e "/usr/include/$header" ] || cp -rL "/usr/include/$header" "$1/include/"
done
for library in libOpenCL.so.1 libclFFT.so.2; do
    path=$(ldconfig -p | sed -n "s|.*$library .*=> ||p" | head -n 1)
    [ -n "$path" ] || { echo "collect_peers.sh: no $library" >&2; continue; }
    cp -L "$path" "$1/lib/$library"               # for the loader
    cp -L "$path" "$1/lib/${library%.so.*}.so" # for the linker; links may not travel
done
