#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fail if a public function lacks its comment or a label that it needs, or if the example in
README.md is not examples/01_transform.c."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
problems = []

DECLARATION = re.compile(
    r"(?P<comment>/\*\*(?:(?!\*/).)*\*/)?\s*KALLIMA_API\s+(?P<type>[^;(]*?)"
    r"(?P<name>kallima_\w+)\s*\((?P<parameters>[^;]*)\)\s*;",
    re.DOTALL,
)
# A parameter that is an array of the caller: its shape has to be said.
BUFFER = re.compile(r"void \*|char \*text|kallima_\w+arrays \*|kallima_device_info \*infos")


def check_function(path, text, match):
    comment, parameters = match["comment"] or "", " ".join(match["parameters"].split())
    where = f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start('name')) + 1}"

    def need(condition, label):
        if condition and not re.search(rf"\*\s+{label}:", comment):
            problems.append(f"{where}: {match['name']}() has no `{label}:`")

    if not comment:
        problems.append(f"{where}: {match['name']}() has no comment")
        return
    need(match["type"].split() == ["kallima_status"], "Error")
    need(re.search(r"\*\*\w*out\b", parameters) is not None, "Owner")
    need(BUFFER.search(parameters) is not None, "Shape")


count = 0
for path in sorted((root / "include").rglob("*.h")):
    text = path.read_text(encoding="utf-8")
    for match in DECLARATION.finditer(text):
        check_function(path, text, match)
        count += 1
    declared = len(re.findall(r"^KALLIMA_API\s", text, re.MULTILINE))
    found = sum(1 for _ in DECLARATION.finditer(text))
    if declared != found:
        problems.append(f"{path.relative_to(root)}: {declared} functions, {found} understood")
if count == 0:
    problems.append("include/: no public function found")

example = root / "examples" / "01_transform.c"
readme = (root / "README.md").read_text(encoding="utf-8")
blocks = re.findall(r"```c\n(.*?)```", readme, re.DOTALL)
if not example.exists() or example.read_text(encoding="utf-8") not in blocks:
    problems.append("README.md: no ```c block equals examples/01_transform.c")

for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
