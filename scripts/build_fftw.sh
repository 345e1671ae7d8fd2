#!/bin/sh
# SPDX-License-Identifier: MIT
# Build FFTW with every SIMD level of this processor's family, float and double, from the
# distribution's source package. Debian's own binary has SSE2 and AVX only, so that a
# comparison with it flatters everybody else.
set -eu

usage() {
    cat <<END
usage: scripts/build_fftw.sh DIR [JOBS]

Fetches the source package fftw3 with apt-get, using a private list of sources, builds it
in DIR/build and installs libfftw3 and libfftw3f with OpenMP under DIR/lib. Neither root
nor any change to the system is needed. JOBS is the number of compiler jobs (default 2).
FFTW_TARBALL=FILE builds that source archive instead of fetching one.
END
}

fail() {
    echo "build_fftw.sh: $*" >&2
    exit 1
}

# The archive that serves this distribution's sources, as a line of sources.list.
source_line() {
    . /etc/os-release
    case "$ID" in
    debian) echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" ;;
    ubuntu) echo "deb-src http://archive.ubuntu.com/ubuntu $VERSION_CODENAME main universe" ;;
    *) fail "knows the sources of Debian and Ubuntu, not of $ID; set FFTW_TARBALL" ;;
    esac
}

fetch() {
    mkdir -p "$dir/build/lists/partial"
    source_line >"$dir/build/sources.list"
    set -- -q -o Dir::Etc::sourcelist="$dir/build/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$dir/build/lists" -o Dir::Cache::srcpkgcache= \
        -o Dir::Cache::pkgcache= -o APT::Sandbox::User=
    apt-get "$@" update || fail "apt-get cannot read the list of sources"
    (cd "$dir/build" && apt-get "$@" --download-only source fftw3) ||
        fail "apt-get cannot fetch the source package fftw3"
    ls "$dir"/build/fftw3_*.orig.tar.* | head -n 1
}

simd_flags() {
    case "$(uname -m)" in
    x86_64) echo "--enable-sse2 --enable-avx --enable-avx2 --enable-avx512" ;;
    aarch64) echo "--enable-neon" ;;
    esac
}

# $1: the precision's name; $2: its configure flags
build() {
    mkdir -p "$dir/build/$1"
    (
        cd "$dir/build/$1"
        # shellcheck disable=SC2086
        "$dir/build/source/configure" --prefix="$dir" --libdir="$dir/lib" --enable-shared \
            --disable-static --disable-fortran --disable-doc --enable-openmp $2 >configure.log
        make -j"$jobs" >make.log
        make install >install.log
    ) || fail "the $1 build failed; see $dir/build/$1"
}

[ $# -ge 1 ] || { usage >&2; exit 2; }
[ "$1" != --help ] || { usage; exit 0; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
jobs=${2:-2}
tarball=${FFTW_TARBALL:-}
[ -n "$tarball" ] || tarball=$(fetch | tail -n 1)
[ -f "$tarball" ] || fail "no source archive"
mkdir -p "$dir/build/source"
tar -xf "$tarball" -C "$dir/build/source" --strip-components=1
build double "$(simd_flags)"
build float "--enable-float $(simd_flags)"
{
    echo "source: $(basename "$tarball")"
    echo "flags: --enable-openmp $(simd_flags)"
    echo "compiler: $(cc --version | head -n 1)"
} >"$dir/BUILD"
echo "FFTW is in $dir/lib"
