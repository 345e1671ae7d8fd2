#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: demo.sh PROGRAM
# Filter a photograph in the frequency domain and lay the results side by side in demo/.
# IMAGE names another photograph (PNG, JPEG, PGM or PPM).
set -eu

program=$1
image=${IMAGE:-}
if [ -z "$image" ]; then
    image=$(dpkg -L python-matplotlib-data | grep '/grace_hopper\.jpg$' | head -n 1)
fi
if [ ! -r "$image" ]; then
    echo "demo: cannot read the photograph '$image'" >&2
    exit 1
fi

mkdir -p demo
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# Everything is kept as portable anymaps until the end: that is what pnmcat joins.
"$program" image filter "$image" "$temporary/lowpass.ppm" \
    --type lowpass --shape gaussian --cutoff 0.03
"$program" image filter "$image" "$temporary/highpass.ppm" \
    --type highpass --shape gaussian --cutoff 0.06
"$program" image spectrum "$image" "$temporary/spectrum.ppm"
case $(head -c 4 "$image" | od -An -tx1 | tr -d ' ') in
ffd8*) jpegtopnm -quiet "$image" ;;
89504e47) pngtopnm -quiet "$image" ;;
*) cat "$image" ;;
esac >"$temporary/original.ppm"

names="original spectrum lowpass highpass"
files=
for name in $names; do
    pnmtopng -quiet "$temporary/$name.ppm" >"demo/$name.png"
    files="$files $temporary/$name.ppm"
done
# shellcheck disable=SC2086 # the list is meant to be split
pnmcat -leftright $files | pnmtopng -quiet >demo/side-by-side.png

echo "Filtered $image:"
for name in $names side-by-side; do
    echo "$PWD/demo/$name.png"
done
