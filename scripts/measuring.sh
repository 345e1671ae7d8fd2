# SPDX-License-Identifier: MIT
# What the scripts that measure on a GPU's machine share; they read it. $root is the project's
# folder, $build where kallima-measure is built, $PEERS as in measure_gpu.sh.

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

use_peers() {
    [ -n "${PEERS:-}" ] || return 0
    PEERS=$(cd "$PEERS" && pwd)
    export CPATH="$PEERS/include${CPATH:+:$CPATH}"
    export LD_LIBRARY_PATH="$PEERS/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

build() {
    generator=
    mkdir -p "$build"
    command -v ninja >/dev/null && generator=-GNinja
    cmake ${generator:+"$generator"} -S "$root/bench" -B "$build" -DCMAKE_BUILD_TYPE=Release \
        -DKALLIMA_COMMIT="${COMMIT:-}" ${PEERS:+-DCMAKE_PREFIX_PATH="$PEERS"} >"$build/build.log" 2>&1 &&
        cmake --build "$build" --parallel "$(nproc)" >>"$build/build.log" 2>&1 ||
        { tail -n 30 "$build/build.log" >&2; fail "the build failed; see $build/build.log"; }
    grep "kallima bench without" "$build/build.log" || true
}

# Where the driver has OpenCL but nobody has told the loader, which may know others (a
# processor's, say): the driver's alone, so that the GPU is opencl:0.
offer_opencl() {
    [ -z "${OCL_ICD_VENDORS:-}" ] || return 0
    ! grep -qi nvidia /etc/OpenCL/vendors/*.icd 2>/dev/null || return 0
    driver=$(ldconfig -p | sed -n 's|.*libnvidia-opencl.so.1 .*=> ||p' | head -n 1)
    [ -n "$driver" ] ||
        driver=$(find /usr/local/nvidia/ -name libnvidia-opencl.so.1 2>/dev/null | head -n 1)
    [ -n "$driver" ] || return 0
    mkdir -p "$build/vendors"
    echo "$driver" >"$build/vendors/nvidia.icd"
    export OCL_ICD_VENDORS="$build/vendors"
}

# The same for Vulkan's loader.
offer_vulkan() {
    [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] || return 0
    [ -z "$(find /etc/vulkan /usr/share/vulkan -name '*nvidia*.json' 2>/dev/null)" ] || return 0
    driver=$(find /usr/local/nvidia/ -name nvidia_icd.json 2>/dev/null | head -n 1)
    [ -z "$driver" ] || export VK_DRIVER_FILES="$driver" VK_ICD_FILENAMES="$driver"
}
