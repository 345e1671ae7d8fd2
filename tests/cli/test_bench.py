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
            ["--behind", "12"], ["--behind", "-8"],
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
        self.refuse(1, "bench", "8", "--device", "cpu", "--peer", "mkl", "--mkl-dir",
                    self.path("nowhere"), says=["libmkl_rt", self.path("nowhere")])
        self.refuse(1, "bench", "8", "--device", "cpu", "--peer", "baseline", "--baseline-dir",
                    self.path("nowhere"), says=["libkallima", self.path("nowhere")])
        self.refuse(1, "bench", "8", "--device", "cpu", "--peer", "baseline",
                    says="--baseline-dir")

    def test_words_of_a_case_that_cannot_be_read_are_told(self):
        for word in ["stride=0", "stride=", "stride=2x", "distance=-1", "plana", "inverse"]:
            with self.subTest(word):
                self.refuse(1, "bench", "--device", "cpu", "--cases",
                            self.write("bad.txt", f"r2c f32 8 2 {word}\n".encode()),
                            says=["line 1", f'"{word}"'])


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


class Peers(Case):
    """FFTW and oneMKL in all layouts that a case may have: they are right, or refuse."""
    CASES = b"""[layouts] A line for kallima compare
c2c f32 12 5
c2c f64 12 5 inverse
c2c f32 12 5 in-place
c2c f64 6x10 3 in-place inverse
c2c f32 4x6x5 2
c2c f64 12 5 stride=3
c2c f32 12 5 stride=16 inverse
c2c f64 12 7 stride=7 distance=1
c2c f32 6x10 3 stride=2
c2c f32 12 5 stride=2 in-place
c2c f32 12 5 planar
c2c f64 12 5 planar inverse
c2c f64 4x6x5 2 planar stride=2
c2c f32 12 5 planar in-place
c2c f64 12 5 planar in-place inverse
r2c f32 12 5
r2c f64 9 5 stride=2
r2c f32 6x10 3
r2c f64 4x6x5 2 stride=3
r2c f32 12 5 in-place
c2r f32 12 5
c2r f64 9 5 stride=2
c2r f64 6x10 3
c2r f32 12 5 in-place
r2c f64 12 5 planar
c2r f32 12 5 planar
"""

    def measure(self, peer, *options):
        done = self.run_program("bench", "--device", "cpu", "--threads", "1", "--json", "--peer",
                                peer, "--cases", self.write("cases.txt", self.CASES), *BRIEF,
                                *options)
        if b"cannot load" in done.stderr:
            self.skipTest(f"{peer} is not here (docs/measuring.md says how to get it): "
                          + done.stderr.decode().strip())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        words = [line.split() for line in self.CASES.decode().splitlines()[1:]]
        self.assertEqual(len(rows), 2 * len(words))
        for case, ours in zip(words, rows[::2]):
            self.assertTrue(ours["ok"], ours)
            layout = [word for word in case[4:] if word not in ("inverse", "in-place")]
            self.assertEqual(ours.get("layout", ""), " ".join(layout))
        return list(zip(words, rows[1::2]))

    def check(self, row, peer):
        self.assertEqual(row["library"], peer)
        self.assertTrue(row["ok"], row)
        self.assertLessEqual(row["error"], 32 * row["error_bound"])
        self.assertGreater(row["median_ms"], 0)
        self.assertRegex(row["version"], r"\d+\.\d+\.\d+")

    def test_fftw_computes_all(self):
        for _, row in self.measure("fftw"):
            self.check(row, "fftw")

    def test_another_build_computes_all(self):
        library = pathlib.Path(PROGRAM).resolve().parents[1] / "libkallima.so.0"
        if not library.exists():
            self.skipTest(f"{library} is not built")
        lib = pathlib.Path(self.path("before")) / "lib"
        lib.mkdir(parents=True)
        (lib / library.name).symlink_to(library)
        for _, row in self.measure("baseline", "--baseline-dir", str(lib.parent)):
            self.check(row, "baseline")

    def test_mkl_computes_all_but_real_planar_ones(self):
        for case, row in self.measure("mkl"):
            if case[0] != "c2c" and "planar" in case:
                self.assertIn("real transforms have no planar side", row["failed"])
            else:
                self.check(row, "mkl")


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

    def test_strides_are_measured_and_planar_arrays_refused(self):
        rows, _ = self.measure("--cases", self.write(
            "strided.txt", b"c2c f32 16 20\nc2c f32 16 5 stride=3\nc2c f32 8 5 stride=5 distance=1\n"))
        self.check(rows["kallima"])
        self.assertEqual([row.get("layout") for row in rows["kallima"]],
                         [None, "stride=3", "stride=5 distance=1"])
        done = self.run_program("bench", "--device", "opencl:0", *BRIEF, "--cases",
                                self.write("planar.txt", b"c2c f32 16 5 planar\n"),
                                env=self.environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"planar arrays are measured on the cpu device only", done.stdout)

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
