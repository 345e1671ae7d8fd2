# SPDX-License-Identifier: MIT
"""Results of a comparison made by hand, so that what a report must say is known."""
import json

MACHINE = {"record": "machine", "format": 1, "kallima": "0.1.0", "commit": "abc",
           "date": "2026-01-01T00:00:00Z", "processor": "A <processor> & more",
           "processors": 8, "memory_gib": 16, "kernel": "Linux 6 x86_64", "load": 0.1,
           "gpu": ""}
SIZES = [16, 64, 256, 1024, 4096, 16384]


def technology(library, selector, **more):
    return {"record": "technology", "id": f"{library} {selector}", "library": library,
            "selector": selector, "device": f"the {selector}", "driver": "1.2",
            "version": "3.4", "flags": "default", "threads": 0, "is_software": False, **more}


def row(tech, group, n, median_ms, **more):
    return {"record": "row", "technology": tech, "group": group, "kind": "c2c",
            "precision": "f32", "lengths": str(n), "batch": 1, "direction": "forward",
            "placement": "out-of-place", "plan_ms": 2, "replan_ms": 1, "first_ms": 3,
            "median_ms": median_ms, "min_ms": median_ms, "spread": 0.02, "samples": 11,
            "executions": 4, "beside": 4, "gflops": 1 / median_ms, "bytes": 16 * n,
            "error": 1e-7, "error_bound": 2e-7, "error_by": "reference", "recipe": "local(4)",
            "ok": True, **more}


def failed(tech, group, n, why):
    whole = row(tech, group, n, 1)
    kept = ("record", "technology", "group", "kind", "precision", "lengths", "batch",
            "direction", "placement")
    return {**{name: whole[name] for name in kept}, "ok": False, "failed": why}


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def whole():
    """Four technologies: the GPU overtakes the processor at 1024 points, with transfers at
    16384; Kallima loses to cuFFT at 16 points alone, to FFTW at no size."""
    records = [MACHINE, technology("kallima", "cpu", threads=8),
               technology("fftw", "cpu", threads=8), technology("kallima", "cuda:0"),
               technology("cufft", "cuda:0"),
               {"record": "group", "id": "1d", "title": "Powers of two", "shows": "size"},
               {"record": "group", "id": "lanes", "title": "Lanes", "shows": "variant"}]
    for n in SIZES:
        cpu, gpu = n / 1000, 0.4 + n / 100000
        records += [row("kallima cpu", "1d", n, cpu), row("fftw cpu", "1d", n, 2 * cpu),
                    row("kallima cuda:0", "1d", n, gpu, write_ms=4, read_ms=4,
                        total_ms=gpu + 8),
                    row("cufft cuda:0", "1d", n, gpu / 2 if n == 16 else 4 * gpu,
                        write_ms=4, read_ms=4, total_ms=4 * gpu + 8)]
    records += [row("kallima cuda:0", "lanes", 16, ms, variant=name, asked=f"local(4, lanes={name})")
                for name, ms in [("16", 4), ("32", 2), ("64", 1)]]
    records.append(failed("cufft cuda:0", "1d", 32, "crashed: signal 11 (Segmentation fault)"))
    return lines(*records)
