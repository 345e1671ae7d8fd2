#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: fetch_sysroot.sh FOLDER
# Unpack Debian's 64-bit ARM libraries that the program and the tests need into FOLDER, for
# the cross build; nothing is installed on this machine. Does nothing if they are there.
# Exit status 77: this is not Debian, whose mirrors have every architecture in one place.
set -eu

folder=$1
[ ! -e "$folder/complete" ] || exit 0

if ! grep -qx 'ID=debian' /etc/os-release; then
    echo "not Debian: the 64-bit ARM libraries are not fetched"
    exit 77
fi

# apt with a world of its own: no packages installed, another architecture, no need of root.
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
mkdir -p "$world/state/lists/partial" "$world/cache/archives/partial"
: >"$world/status"
arm64_apt() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State="$world/state" -o Dir::State::status="$world/status" \
        -o Dir::Cache="$world/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" \
        "$@" </dev/null
}
echo "Fetching 64-bit ARM libraries into $folder"
arm64_apt update >"$world/log" 2>&1 &&
    arm64_apt install -y --no-install-recommends --download-only libc6-dev libcmocka-dev \
        libfftw3-dev libpng-dev libturbojpeg0-dev libnetpbm-dev libgomp1 >>"$world/log" 2>&1 || {
    cat "$world/log"
    exit 1
}

rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
for package in "$world"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$folder"
done
# Links to absolute places would lead out of the folder.
find "$folder" -type l -lname '/*' | while read -r link; do
    ln -sfn "$folder$(readlink "$link")" "$link"
done
touch "$folder/complete"
