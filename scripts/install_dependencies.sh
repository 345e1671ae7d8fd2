#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: install_dependencies.sh build|demo|check|check-long
# Install with apt-get what is missing for the target of `make` of that name. Where
# nothing is missing apt-get is not called, so no network is needed.
set -eu

# One line a need: the package, then a command whose success shows that it is there.
has() { command -v "$1" >/dev/null 2>&1; }
header() { echo "#include <$1>" | cc -E -x c - >/dev/null 2>&1; }
package() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'; }
import() { python3 -c "import $1" >/dev/null 2>&1; }

build_needs() {
    cat <<'END'
cmake has cmake
ninja-build has ninja
gcc has cc
libc6-dev header stdlib.h
pkg-config has pkg-config
libpng-dev header png.h
libturbojpeg0-dev header turbojpeg.h
libnetpbm-dev header netpbm/pam.h
END
}

demo_needs() {
    build_needs
    cat <<'END'
netpbm has pnmcat
END
    [ -n "${IMAGE:-}" ] || echo "python-matplotlib-data package python-matplotlib-data"
}

check_needs() {
    build_needs
    cat <<'END'
g++ has c++
binutils has nm
libcmocka-dev header cmocka.h
libfftw3-dev header fftw3.h
gnuplot-nox has gnuplot
python3 has python3
python3-numpy import numpy
clang-format has clang-format
opencl-headers header CL/cl.h
ocl-icd-opencl-dev package ocl-icd-opencl-dev
pocl-opencl-icd package pocl-opencl-icd
oclgrind has oclgrind
glslang-tools has glslangValidator
libegl1 package libegl1
libegl-dev header EGL/eglext.h
libgl-dev header GL/glcorearb.h
libgl1-mesa-dri package libgl1-mesa-dri
libvulkan-dev header vulkan/vulkan_core.h
mesa-vulkan-drivers package mesa-vulkan-drivers
vulkan-validationlayers package vulkan-validationlayers
glslang-dev header glslang/Include/glslang_c_interface.h
spirv-tools package spirv-tools
END
    [ "$(uname -m)" = x86_64 ] || return 0
    cat <<'END' # elsewhere there is nothing to cross-build; without a screen Wine has no Direct3D
qemu-user has qemu-aarch64
gcc-aarch64-linux-gnu has aarch64-linux-gnu-gcc
libc6-dev-arm64-cross package libc6-dev-arm64-cross
gcc-mingw-w64-x86-64-win32 has x86_64-w64-mingw32-gcc
wine64 package wine64
xvfb has Xvfb
END
}

check_long_needs() {
    check_needs
    echo "chromium has chromium" # looks at the page of kallima compare
}

case "${1:-}" in
build | demo | check) needs=${1}_needs ;;
check-long) needs=check_long_needs ;;
*)
    echo "usage: $0 build|demo|check|check-long" >&2
    exit 2
    ;;
esac

missing=$("$needs" | while read -r name test argument; do
    "$test" "$argument" || echo "$name"
done | tr '\n' ' ')
[ -n "$missing" ] || exit 0

if ! has apt-get; then
    echo "missing: $missing(there is no apt-get here to install them with)" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
    has sudo || {
        echo "missing: $missing(install them as root: there is no sudo here)" >&2
        exit 1
    }
    sudo=sudo
fi

echo "Installing with apt-get: $missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # the list is meant to be split
if ! { $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    echo "apt-get failed; needed: $missing" >&2
    exit 1
fi
