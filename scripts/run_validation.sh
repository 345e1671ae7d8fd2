#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: run_validation.sh PROGRAM [ARGUMENT]...
# Run a program with the Khronos validation layer of Vulkan, its checks of barriers and of accesses
# by kernels too; fail if the program fails or the layer has anything to say. 77: the layer is not
# installed, or the program skips.
set -eu

layer=VK_LAYER_KHRONOS_validation
export VK_INSTANCE_LAYERS=$layer VK_LOADER_DEBUG=layer
export VK_LAYER_ENABLES="VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;\
VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

status=0
"$@" >"$log" 2>&1 || status=$?
grep -Ev '^((WARNING|DEBUG|INFO) \| )?(LAYER|DRIVER):' "$log" || true
if [ "$status" -eq 0 ] && ! grep -q "$layer.*\.so" "$log"; then
    echo "SKIPPED: $layer is not installed: NOTHING was validated"
    exit 77
fi
if grep -q 'VUID-\|UNASSIGNED-\|SYNC-\|Validation Error' "$log"; then
    echo "the validation layer has spoken"
    exit 1
fi
exit "$status"
