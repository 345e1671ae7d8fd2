#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: fetch_cmocka.sh FOLDER
# Put the test library cmocka, built for Windows with mingw-w64, into FOLDER: include/, lib/. Debian
# has its source, but no package of it for mingw-w64. The system's own lists and packages stay as
# they are. Fails, with a sentence, where that cannot be had.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ ! -e "$folder/lib/libcmocka.a" ] || exit 0

mirror=http://deb.debian.org/debian
keys=/usr/share/keyrings/debian-archive-keyring.gpg
command -v apt-get >/dev/null && [ -e "$keys" ] || {
    echo "cmocka: its source is only taken from Debian, which cannot be had here" >&2
    exit 1
}
fetch() {
    rm -rf "$folder/apt"
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/source"
    echo "deb-src [signed-by=$keys] $mirror bookworm main" >"$folder/apt/sources.list"
    set -- -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::Lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" \
        -o APT::Sandbox::User=root
    apt-get "$@" update && cd "$folder/source" && apt-get "$@" source --download-only cmocka &&
        tar -xf cmocka_*.orig.tar.?z --strip-components=1
}
(fetch) >"$folder/log" 2>&1 || {
    echo "cmocka: its source cannot be fetched from $mirror; see $folder/log" >&2
    exit 1
}
mkdir -p "$folder/include" "$folder/lib/pkgconfig"
cp "$folder"/source/include/cmocka*.h "$folder/include"
cd "$folder/source"
x86_64-w64-mingw32-gcc -O2 -w -DHAVE_INTTYPES_H -DHAVE_MALLOC_H -DHAVE_SIGNAL_H \
    -D__USE_MINGW_ANSI_STDIO=1 -Iinclude -c src/cmocka.c -o "$folder/cmocka.o" >"$folder/log" 2>&1 || {
    echo "cmocka: it does not build for Windows; see $folder/log" >&2
    exit 1
}
cat >"$folder/lib/pkgconfig/cmocka.pc" <<END
Name: cmocka
Description: tests in C
Version: 1.1
Cflags: -I$folder/include
Libs: -L$folder/lib -lcmocka
END
x86_64-w64-mingw32-ar rcs "$folder/lib/libcmocka.a" "$folder/cmocka.o"
rm -rf "$folder/apt" "$folder/cmocka.o"
