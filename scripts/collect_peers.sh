#!/bin/sh
# SPDX-License-Identifier: MIT
# Copy the headers and libraries of clFFT, VkFFT, OpenCL and Vulkan of this machine, and FFTW's
# libraries, to a folder that measure_gpu.sh and compare_gpu.sh take as PEERS on a machine without
# their packages (on Debian: libclfft-dev, libvkfft-dev, opencl-c-headers, ocl-icd-opencl-dev,
# libvulkan-dev, libfftw3-single3, libfftw3-double3). For the device vulkan its
# module of a build here, libkallima-spirv.so, goes to DIR/lib too.
set -eu

[ $# -eq 1 ] || { echo "usage: scripts/collect_peers.sh DIR" >&2; exit 2; }
mkdir -p "$1/include" "$1/lib"
for header in CL clFFT.h clFFT.version.h vkFFT.h vk_video; do
    [ ! -e "/usr/include/$header" ] || cp -rL "/usr/include/$header" "$1/include/"
done
if [ -e /usr/include/vulkan/vulkan_core.h ]; then # without C++, which is ten times as large
    mkdir -p "$1/include/vulkan"
    cp -L /usr/include/vulkan/vulkan_core.h /usr/include/vulkan/vk_platform.h "$1/include/vulkan/"
fi
for library in libOpenCL.so.1 libclFFT.so.2 libvulkan.so.1; do
    path=$(ldconfig -p | sed -n "s|.*$library .*=> ||p" | head -n 1)
    [ -n "$path" ] || { echo "collect_peers.sh: no $library" >&2; continue; }
    cp -L "$path" "$1/lib/$library"               # for the loader
    cp -L "$path" "$1/lib/${library%.so.*}.so" # for the linker; links may not travel
done
for library in libfftw3.so.3 libfftw3f.so.3 libfftw3_omp.so.3 libfftw3f_omp.so.3; do # loaded only
    path=$(ldconfig -p | sed -n "s|.*$library .*=> ||p" | head -n 1)
    [ -z "$path" ] || cp -L "$path" "$1/lib/$library"
done
