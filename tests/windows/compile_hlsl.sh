#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: compile_hlsl.sh TEXT PROFILE ENTRY CODE
# What d3dcompiler.c starts: HLSL to DXBC by vkd3d-compiler, which $VKD3D_COMPILER names.
# Version 2.1
# - knows no Load() of an RWByteAddressBuffer: there what is read is the result of
#   an atomic addition of 0;
# - knows InterlockedAdd() as a function of an element, whose number it takes for bytes;
# - loses what an unrolled loop stores through a function that changes an array: loops
#   stay loops.
text=$1 profile=$2 entry=$3 code=$4
sed -e '1i uint peek(RWByteAddressBuffer m, uint at) { uint was; InterlockedAdd(m[at], 0u, was); return was; }' \
    -e 's/^#define UNROLL .*/#define UNROLL [loop]/' \
    -e 's/memory\.InterlockedAdd(at, value)/InterlockedAdd(memory[at], value)/' \
    -e '/RWByteAddressBuffer memory/ {
        s/memory\.Load(at)/peek(memory, at)/
        s/memory\.Load2(at)/uint2(peek(memory, at), peek(memory, at + 4u))/
    }' "$text" >"$text.vkd3d"
if "${VKD3D_COMPILER:-vkd3d-compiler}" -x hlsl -b dxbc-tpf -p "$profile" -e "$entry" \
    "$text.vkd3d" -o "$code.part" >"$code.log" 2>&1; then
    mv "$code.part" "$code"
else
    cp "$code.log" "$code.wrong"
    mv "$code.wrong" "$code.err"
fi
rm -f "$code.log" "$code.part" "$text.vkd3d"
