#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail if a file includes a header of a room that its own may not use, or if a conditional
on a backend or a SIMD level stands outside that backend's folder."""
import pathlib
import re
import sys

MAY_USE = {  # this table is the architecture; docs/architecture.md explains it
    "base": "",
    "math": "base",
    "problem": "base math",
    "factor": "base math problem codelet",
    "pass": "base math problem factor",
    "codelet": "base math",
    "kernel": "base math problem factor pass codelet",
    "emit": "base codelet kernel",
    "device": "base",
    "device/null": "base device",
    "device/cpu": "base math problem pass codelet device",
    "device/opencl": "base device",
    "device/cuda": "base device",
    "device/spirv": "base device",
    "device/opengl": "base device device/vulkan",
    "device/vulkan": "base device device/spirv",
    "device/d3d11": "base device",
    "exec": "base math problem factor pass codelet kernel emit device",
    "wisdom": "base problem factor",
    "tune": "base math problem factor pass codelet kernel emit device exec wisdom",
    "api": "base math problem factor pass codelet kernel emit device device/opencl device/cuda device/opengl device/vulkan device/d3d11 exec wisdom tune",
    "gen": "base codelet emit",
}
OUTSIDE = ("tools", "bench", "examples")  # use the public headers and their own files only

# `#if` on what one folder alone may know of: the pattern, and the folder.
OWN_CONDITIONS = (
    (r"KAL_SIMD_|KAL_CPU_|__AVX|__SSE|__FMA__|__ARM_NEON|__aarch64__|__x86_64__", "device/cpu"),
    (r"_OPENMP", "device/cpu"),
    (r"_WIN32|_WIN64|__MINGW", "base"), # base/platform.h; the calls of POSIX are in base/windows/
)

root = pathlib.Path(__file__).resolve().parent.parent
problems = []


def room_of(path):
    """The longest key of MAY_USE that is the start of the file's folder."""
    folder = path.relative_to(root / "src").parent.as_posix()
    while folder not in MAY_USE:
        folder = folder.rpartition("/")[0]
        if not folder:
            return None
    return folder


def sources(*folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*.[ch]")):
            yield path, path.read_text(encoding="utf-8").splitlines()


def report(path, number, text):
    problems.append(f"{path.relative_to(root)}:{number}: {text}")


for path, lines in sources("src"):
    room = room_of(path)
    if room is None:
        report(path, 1, "this folder is not in the table MAY_USE")
        continue
    allowed = {room, "kallima", *MAY_USE[room].split()}
    for number, line in enumerate(lines, 1):
        include = re.match(r'\s*#\s*include\s*["<]((?:\w+/)+)', line)
        used = include[1].rstrip("/") if include else None
        if used and used.startswith(room + "/") and (
                used not in MAY_USE or path.name == "registry.c"):
            continue  # its own folders; rooms within a room meet in its registry only
        if used and used not in allowed and (root / "src" / used).is_dir():
            report(path, number, f"{room}/ may not use {used}/")
        if re.match(r"\s*#\s*(el)?if", line):
            for pattern, owner in OWN_CONDITIONS:
                if re.search(pattern, line) and not room.startswith(owner):
                    report(path, number, f"this condition belongs in {owner}/")

rooms = {room.split("/")[0] for room in MAY_USE}
for path, lines in sources(*OUTSIDE):
    for number, line in enumerate(lines, 1):
        include = re.match(r'\s*#\s*include\s*"(?:\.\./)*(?:src/)?(\w+)/', line)
        if include and include[1] in rooms:
            report(path, number, f"{path.relative_to(root).parts[0]}/ may use kallima/ only")

for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
