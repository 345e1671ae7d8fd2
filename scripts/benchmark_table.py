#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the cases of `kallima bench --peer fftw --json` files as one Markdown table, with the
geometric mean, the number of cases below 1 and the worst cases of each file."""
import argparse
import json
import math
import pathlib


def read(path):
    """Return Kallima's and the peer's rows by case, in the file's order."""
    rows = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        lengths = "x".join(str(n) for n in row["lengths"])
        case = (row["kind"], row["precision"], lengths, row["batch"])
        case += (row["direction"], row["placement"])
        ours = row["library"] == "kallima"
        rows.setdefault(case, {})["ours" if ours else "peer"] = row
    return rows


def ratio(pair):
    """Return the peer's median over ours, or None where one of them failed."""
    if any("median_ms" not in pair.get(side, {}) for side in ("ours", "peer")):
        return None
    return pair["peer"]["median_ms"] / pair["ours"]["median_ms"]


def name(case):
    """Return the case as text; what is usual is left out."""
    usual = ("forward", "out-of-place")
    return " ".join([*case[:3], f"× {case[3]}", *(w for w in case[4:] if w not in usual)])


def cells(pair):
    """Return a run's two columns for one case."""
    value = ratio(pair) if pair else None
    if value is None:
        return "", ""
    return f"{value:.3f}", f"{pair['ours']['gflops']:.1f}"


def print_table(labels, runs):
    """Print one row for each case of any run."""
    heads = [f"{label}: {what}" for label in labels for what in ("ratio", "GFLOP/s")]
    print("| case |", " | ".join(heads), "|")
    print("|---|" + "---:|" * len(heads))
    for case in dict.fromkeys(case for run in runs for case in run):
        row = [cell for run in runs for cell in cells(run.get(case))]
        print(f"| {name(case)} |", " | ".join(row), "|")


def print_summary(label, run, worst):
    """Print what a mean must state: over how many cases, and the worst of them."""
    ratios = {case: value for case in run if (value := ratio(run[case])) is not None}
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    slower = sum(value < 1 for value in ratios.values())
    low = sum(value < 0.25 for value in ratios.values())
    print(f"\n{label}: geometric mean {mean:.3f} of {len(ratios)} cases, {slower} below 1, "
          f"{low} below 0.25; the worst:")
    for case in sorted(ratios, key=ratios.get)[:worst]:
        print(f"  {ratios[case]:.3f}  {name(case)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", nargs="+", metavar="LABEL=FILE", help="a .jsonl file")
    parser.add_argument("--worst", type=int, default=5, help="how many to list (default 5)")
    options = parser.parse_args()
    pairs = [run.rpartition("=")[::2] for run in options.run]
    labels = [label or pathlib.Path(path).stem for label, path in pairs]
    runs = [read(pathlib.Path(path)) for _, path in pairs]
    print_table(labels, runs)
    for label, run in zip(labels, runs):
        print_summary(label, run, options.worst)


if __name__ == "__main__":
    main()
