# SPDX-License-Identifier: MIT
"""Help, versions, exit statuses, common options, devices, plans, codelets."""
import json
import subprocess
import unittest

from support import PROGRAM, Case

COMMANDS = ["devices", "image filter", "image spectrum", "image convolve", "transform",
            "plan", "codelet", "verify", "bench"]


class Help(Case):
    def test_program_lists_its_commands(self):
        text = self.succeed("--help")
        for words in COMMANDS + ["--device", "--threads", "--simd", "--version"]:
            self.assertIn(words, text)

    def test_every_command_explains_itself(self):
        for command in COMMANDS:
            with self.subTest(command):
                text = self.succeed(*command.split(), "--help")
                self.assertTrue(text.startswith("usage: kallima " + command), text)
                self.assertNotIn("\t", text)
                self.assertLessEqual(max(map(len, text.splitlines())), 90)

    def test_group_lists_its_commands(self):
        text = self.succeed("image", "--help")
        self.assertIn("image convolve", text)
        self.assertNotIn("codelet", text)

    def test_version_is_printed(self):
        self.assertRegex(self.succeed("--version"), r"\Akallima \d+\.\d+\.\d+\n\Z")
        self.assertEqual(self.succeed("plan", "--version"), self.succeed("--version"))


class Usage(Case):
    def test_usage_errors_end_with_2(self):
        for arguments in [
            [], ["nonsense"], ["image"], ["image", "nonsense"], ["--nonsense"],
            ["devices", "more"], ["devices", "--json=1"], ["devices", "-q"],
            ["plan"], ["plan", "8", "8"], ["plan", "0"], ["plan", "8x"], ["plan", "axb"],
            ["plan", "8", "--kind", "c2x"], ["plan", "8", "--batch", "0"],
            ["plan", "8", "--kind"], ["plan", "x".join("2" * 9)],
            ["plan", "8", "--kind", "r2c", "--inverse"],
            ["codelet"], ["codelet", "1"], ["codelet", "65"], ["codelet", "8.5"],
            ["image", "filter", "a.png", "b.png"],
            ["image", "filter", "a.png", "b.png", "--type", "lowpass"],
            ["image", "filter", "a.png", "--type", "lowpass", "--cutoff", "0.1"],
            ["image", "filter", "a", "b", "--type", "lowpass", "--cutoff", "0.6"],
            ["image", "filter", "a", "b", "--type", "lowpass", "--cutoff", "1pt"],
            ["image", "filter", "a", "b", "--type", "lowpass", "--cutoff", "-1px"],
            ["image", "filter", "a", "b", "--type", "lowpass", "--cutoff", "nan"],
            ["image", "filter", "a", "b", "--type", "bandpass", "--cutoff", "0.1"],
            ["image", "filter", "a", "b", "--type", "lowpass", "--cutoff", "0.1",
             "--cutoff-high", "0.2"],
            ["image", "filter", "a", "b", "--type", "lowpass", "--cutoff", "0.1",
             "--order", "0"],
            ["image", "filter", "a", "b", "--type", "lowpass", "--cutoff", "0.1",
             "--pad", "wrap"],
            ["image", "spectrum", "a.png"], ["image", "convolve", "a.png", "box:3"],
            ["transform", "a.npy"], ["transform", "a.npy", "b.npy", "--norm", "none"],
            ["transform", "a.npy", "b.npy", "--length", "8"],
            ["plan", "8", "--threads", "0"], ["plan", "8", "--threads", "many"],
            ["plan", "8", "--threads"],
        ]:
            with self.subTest(arguments):
                self.refuse(2, *arguments, says="--help")

    def test_absent_device_is_refused(self):
        self.refuse(1, "plan", "8", "--device", "nonsense:7", says="nonsense")
        self.refuse(1, "plan", "8", "--device", "cpu", "--simd", "mmx", says="mmx")

    def test_full_standard_output_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)


class Reports(Case):
    def test_devices_include_the_cpu(self):
        self.assertIn("cpu", self.succeed("devices"))
        devices = json.loads(self.succeed("devices", "--json"))
        self.assertIn("cpu", [device["selector"] for device in devices])
        for device in devices:
            self.assertIsInstance(device["has_f64"], bool)
            self.assertGreaterEqual(device["memory_bytes"], 0)

    def test_plan_reports_recipe_and_cost(self):
        text = self.succeed("plan", "60x31", "--kind", "r2c", "--precision", "f64",
                            "--batch", "3", "--device", "cpu", "--threads", "1")
        for word in ("recipe", "bytes", "operations", "workspace"):
            self.assertIn(word, text)

    def test_plan_reads_its_own_recipe(self):
        for arguments in (["4096"], ["60x31", "--kind", "c2r"], ["10007", "--inverse"],
                          ["32x32", "--in-place", "--precision", "f64"]):
            with self.subTest(arguments):
                plan = json.loads(self.succeed("plan", *arguments, "--json"))
                again = json.loads(self.succeed("plan", *arguments, "--json", "--recipe",
                                                plan["recipe"]))
                self.assertEqual(plan, again)
        self.refuse(1, "plan", "4096", "--recipe", "nonsense(")

    def test_plan_prints_kernels(self):
        opencl = self.succeed("plan", "60", "--source", "opencl")
        self.assertIn("__kernel", opencl)
        self.assertEqual(opencl, self.succeed("plan", "60", "--source", "opencl",
                                              "--device", "nullopencl"))
        self.assertIn("__global__", self.succeed("plan", "60x8", "--source", "cuda"))
        plan = json.loads(self.succeed("plan", "60", "--source", "opencl", "--json"))
        self.assertEqual(plan["source"], opencl)
        self.refuse(2, "plan", "60", "--source", "cobol", says="cobol")
        self.refuse(2, "plan", "60", "--source", "cuda", "--device", "cpu", says="cpu")

    def test_codelet_counts_and_source(self):
        text = self.succeed("codelet", "8", "--ops")
        self.assertRegex(text, r"(?m)^plain +56 +52 +4 ")
        self.assertEqual(text, self.succeed("codelet", "8"))
        self.assertIn("{", self.succeed("codelet", "5", "--source", "c"))
        self.refuse(1, "codelet", "5", "--source", "cobol", says="cobol")


if __name__ == "__main__":
    unittest.main()
