# SPDX-License-Identifier: MIT
"""kallima bench: arguments, the table, JSON; an OpenCL device beside its peers if there is one."""
import json
import os
import pathlib
import unittest

from support import PROGRAM, Case

BRIEF = ["--min-time", "0", "--max-time", "0.01"]


class Arguments(Case):
    def test_usage_errors_end_with_2(self):
        for arguments in [
            ["--peer", "nonsense"], ["--peer", "cufft", "--device", "cpu"],
            ["--peer", "clfft,fftw", "--device", "cpu"], ["--peer"],
            ["--min-time", "-1"], ["--max-time", "long"], ["--plan-twice=yes"],
            ["--cases", "a.txt", "8"], ["8x"],
        ]:
            with self.subTest(arguments):
                self.refuse(2, "bench", *arguments, says="--help")

    def test_unknown_peer_is_told_what_there_is(self):
        self.refuse(2, "bench", "8", "--device", "cpu", "--peer", "vkfft",
                    says=["vkfft", "cpu", "fftw"])

    def test_absent_peer_is_told(self):
        self.refuse(1, "bench", "8", "--device", "cpu", "--peer", "fftw", "--fftw-dir",
                    self.path("nowhere"), says="libfftw3")


class Host(Case):
    def test_json_and_table(self):
        done = self.run_program("bench", "16", "12", "--device", "cpu", "--threads", "1",
                                "--json", "--plan-twice", *BRIEF)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["lengths"] for row in rows], [[16], [12]])
        for row in rows:
            self.assertEqual(row["library"], "kallima")
            self.assertTrue(row["ok"])
            self.assertLessEqual(row["error"], row["error_bound"])
            self.assertGreater(row["replan_ms"], 0)
            self.assertNotIn("x_copy", row)
        self.assertIn(b"2 cases, 0 failed", done.stderr)


def is_built(module):
    return (pathlib.Path(PROGRAM).resolve().parent / f"kallima-bench-{module}.so").exists()


class OpenCL(Case):
    CASES = b"""c2c f32 16 20
c2c f64 12 3 in-place
r2c f32 8x6 2
"""

    def setUp(self):
        super().setUp()
        devices = json.loads(self.succeed("devices", "--json"))
        if not any(device["selector"] == "opencl:0" for device in devices):
            self.skipTest("no OpenCL device")
        self.environment = dict(os.environ, KALLIMA_KERNEL_CACHE=self.path("kernels"))

    def measure(self, *arguments):
        """The rows of all libraries, by library; the rest of the program's words."""
        done = self.run_program("bench", "--device", "opencl:0", "--json", *BRIEF, *arguments,
                                env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        rows = {}
        for line in done.stdout.splitlines():
            row = json.loads(line)
            rows.setdefault(row["library"], []).append(row)
        return rows, done.stderr.decode()

    def check(self, rows):
        for row in rows:
            self.assertTrue(row["ok"], row)
            self.assertLessEqual(row["error"], 32 * row["error_bound"])
            self.assertGreater(row["median_ms"], 0)
            self.assertGreater(row["x_copy"], 0)
            self.assertIn(row["copied_with"], ("api", "kernel"))
            self.assertEqual(row["selector"], "opencl:0")

    def test_kallima_alone_needs_no_module(self):
        rows, table = self.measure("16", "--batch", "20")
        self.assertEqual(list(rows), ["kallima"])
        self.check(rows["kallima"])
        self.assertIn("x-copy of kallima", table)

    @unittest.skipUnless(is_built("opencl-vkfft"), "no VkFFT")
    def test_a_peer_shares_the_memory(self):
        rows, table = self.measure("--cases", self.write("cases.txt", self.CASES),
                                   "--peer", "vkfft")
        self.assertEqual(sorted(rows), ["kallima", "vkfft"])
        for library in rows.values():
            self.assertEqual(len(library), 3)
            self.check(library)
        self.assertIn("ratio (vkfft median", table)

    @unittest.skipUnless(is_built("opencl-clfft") and is_built("opencl-vkfft"), "no clFFT")
    def test_peers_are_measured_together(self):
        rows, table = self.measure("16", "17", "--batch", "8", "--peer", "vkfft,clfft")
        self.assertEqual(len(rows["clfft"]), 2)
        self.check(rows["clfft"][:1])
        self.assertIn("no plan", rows["clfft"][1]["failed"])
        self.assertIn("ratio (best peer median", table)

    @unittest.skipUnless(is_built("opencl"), "no module")
    def test_peers_of_other_devices_are_refused(self):
        self.refuse(2, "bench", "16", "--device", "opencl:0", "--peer", "cufft",
                    says=["cufft", "clfft"], env=self.environment)


if __name__ == "__main__":
    unittest.main()
