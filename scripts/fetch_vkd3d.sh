#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: fetch_vkd3d.sh FOLDER
# Put vkd3d-compiler 2, which compiles HLSL for compute shaders as Wine's own compiler does not,
# into FOLDER: from a newer Debian, with its C library, which nothing else uses. The system's own
# lists and packages stay as they are. Fails, with a sentence, where that cannot be had.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ ! -x "$folder/vkd3d-compiler" ] || exit 0

mirror=http://deb.debian.org/debian
keys=/usr/share/keyrings/debian-archive-keyring.gpg
command -v apt-get >/dev/null && [ -e "$keys" ] || {
    echo "vkd3d-compiler: only from Debian's packages, which cannot be had here" >&2
    exit 1
}
fetch() {
    rm -rf "$folder/lists" "$folder/cache"
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/packages"
    echo "deb [signed-by=$keys] $mirror $1 main" >"$folder/sources.list"
    set -- -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" \
        -o Dir::State::status=/dev/null -o APT::Sandbox::User=root
    apt-get "$@" update && cd "$folder/packages" &&
        apt-get "$@" download vkd3d-compiler libvkd3d-shader1 libc6
}
for suite in forky sid; do
    (fetch "$suite") >"$folder/log" 2>&1 && fetched=$suite && break
done
[ -n "${fetched:-}" ] || {
    echo "vkd3d-compiler: cannot be fetched from $mirror; see $folder/log" >&2
    exit 1
}
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
done
rm -rf "$folder/lists" "$folder/cache" "$folder/packages"
libraries=$folder/root/usr/lib/x86_64-linux-gnu
cat >"$folder/vkd3d-compiler" <<END
#!/bin/sh
exec $libraries/ld-linux-x86-64.so.2 --library-path $libraries:/lib/x86_64-linux-gnu \\
    $folder/root/usr/bin/vkd3d-compiler "\$@"
END
chmod +x "$folder/vkd3d-compiler"
"$folder/vkd3d-compiler" --version >/dev/null || {
    rm "$folder/vkd3d-compiler"
    echo "vkd3d-compiler: the one from $fetched does not run here" >&2
    exit 1
}
