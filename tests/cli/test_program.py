# SPDX-License-Identifier: MIT
"""Help, versions, exit statuses, common options, devices, plans, codelets."""
import errno
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import unittest

from support import PROGRAM, Case

COMMANDS = ["devices", "image filter", "image spectrum", "image convolve", "transform",
            "plan", "codelet", "verify", "bench", "wisdom list", "wisdom show",
            "wisdom merge", "wisdom forget", "wisdom check"]


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


class Verify(Case):
    def count(self, *options):
        text = self.succeed("--device", "cpu", "verify", "--quick", "--json", *options)
        return sum(json.loads(line)["problems"] for line in text.splitlines())

    def test_parts_share_the_problems(self):
        parts = [self.count("--part", f"{i}/3") for i in (1, 2, 3)]
        self.assertTrue(all(parts))
        self.assertEqual(sum(parts), self.count())


class Usage(Case):
    def test_usage_errors_end_with_2(self):
        for arguments in [
            [], ["nonsense"], ["image"], ["image", "nonsense"], ["--nonsense"],
            ["devices", "more"], ["devices", "--json=1"], ["devices", "-q"],
            ["plan"], ["plan", "8", "8"], ["plan", "0"], ["plan", "8x"], ["plan", "axb"],
            ["plan", "8", "--kind", "c2x"], ["plan", "8", "--batch", "0"],
            ["plan", "8", "--kind"], ["plan", "x".join("2" * 9)],
            ["plan", "8", "--kind", "r2c", "--inverse"],
            ["verify", "more"], ["verify", "--part", "3/2"], ["verify", "--part", "1/2x"],
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

    def test_codelet_counts_and_source(self):
        text = self.succeed("codelet", "8", "--ops")
        self.assertRegex(text, r"(?m)^plain +56 +52 +4 ")
        self.assertEqual(text, self.succeed("codelet", "8"))
        self.assertIn("{", self.succeed("codelet", "5", "--source", "c"))
        self.refuse(1, "codelet", "5", "--source", "cobol", says="cobol")


class Kernels(Case):
    """kallima plan --source"""

    def passes(self, *arguments):
        text = self.succeed("plan", *arguments)
        return [line for line in text.splitlines() if line.startswith("pass ")]

    def test_each_language_is_printed(self):
        for language, words in [("opencl", "__kernel"), ("cuda", "__global__"),
                                ("opengl", "#version 430"),
                                ("opengles", "#version 310 es")]:
            with self.subTest(language):
                text = self.succeed("plan", "60x8", "--source", language)
                self.assertIn(words, text)
                for device in ("null" + language, "null" + language + ":0"):
                    self.assertEqual(text, self.succeed(
                        "plan", "60x8", "--source", language, "--device", device))
                self.assertEqual(text, self.succeed(
                    "plan", "60x8", "--source", language,
                    env={**os.environ, "KALLIMA_DEVICE": "cpu"}))
        self.refuse(2, "plan", "60", "--source", "cobol", says="cobol")

    def test_each_kernel_is_under_its_passes(self):
        kernels, most = [], 0
        for arguments in [
            ["1"], ["16", "--batch", "64"], ["1048576"], ["65537", "--precision", "f64"],
            ["1048576x64", "--kind", "r2c"], ["65536", "--batch", "64"],
            ["64x64x64", "--batch", "4"], ["5x65536x2"],
        ]:
            for language in ("opencl", "cuda"):
                with self.subTest((language, arguments)):
                    text = self.succeed("plan", *arguments, "--source", language)
                    passes = self.passes(*arguments, "--device", "null" + language)
                    self.assertEqual(re.findall("(?m)^// (pass .*)$", text), passes)
                    before, *parts = re.split("(?m)^((?:// pass .*\n)+)", text)
                    self.assertEqual(before, "")
                    for passes, body in zip(parts[::2], parts[1::2]):
                        self.assertEqual(len(re.findall(r"(?m)^KERNEL\(", body)), 1)
                        self.assertEqual(len(re.findall("(?m)^// .* points a group:", body)),
                                         passes.count("\n"))
                        most = max(most, passes.count("\n"))
                    kernels.append(len(parts) // 2)
        self.assertGreater(max(kernels), 1, "no plan has several kernels")
        self.assertGreater(most, 1, "no kernel has several passes")

    def test_json_has_the_texts_alone(self):
        text = self.succeed("plan", "30030", "--source", "opencl")
        plan = json.loads(self.succeed("plan", "30030", "--source", "opencl", "--json"))
        self.assertEqual(plan["source"], re.sub("(?m)^\n?// pass .*\n", "", text))

    def test_other_options_say_which_kernels(self):
        texts = [self.succeed("plan", "4096", *more, "--source", "cuda") for more in [
            [], ["--kind", "r2c"], ["--kind", "c2r"], ["--precision", "f64"],
            ["--batch", "40"], ["--inverse"], ["--recipe", "local(8.8.8.8)"],
            ["--inverse", "--in-place", "--batch", "40", "--precision", "f64", "--recipe",
             "local(8.8.8.8)"],
        ]]
        self.assertEqual(len(set(texts)), len(texts))
        self.assertIn("double", texts[-1])
        self.assertIn("dft8", texts[-1])
        self.refuse(1, "plan", "4096", "--recipe", "nonsense(", "--source", "cuda")

    def test_memory_of_the_device_is_not_taken(self):
        # The workspace has 32 GiB.
        self.assertIn("KERNEL(", self.succeed("plan", "1048576x4096", "--source", "cuda"))

    def test_device_of_another_language_is_refused(self):
        for language, device in [("cuda", "cpu"), ("cuda", "null"), ("opencl", "cpu"),
                                 ("cuda", "nullopencl"), ("opencl", "nullcuda"),
                                 ("opengl", "nullcuda"), ("vulkan", "nullcuda"),
                                 ("opengl", "nullopengles"), ("opengles", "nullopengl"),
                                 ("d3d11", "nullopengl")]:
            self.refuse(2, "plan", "60", "--source", language, "--device", device,
                        says=["--source " + language, "the device " + device + " "])
        self.refuse(1, "plan", "60", "--source", "cuda", "--device", "cudanonsense",
                    says="cudanonsense")

    def test_lost_output_is_an_error(self):
        arguments = [PROGRAM, "plan", "1048576", "--source", "cuda"]
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode(), "kallima: cannot write to standard output: " +
                         os.strerror(errno.ENOSPC) + "\n")

        reader, writer = os.pipe()
        os.close(reader)
        try:
            for restore, status in [(True, -signal.SIGPIPE), (False, 1)]:
                done = subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE,
                                      restore_signals=restore, check=False)
                self.assertEqual(done.returncode, status)
                self.assertEqual(b"standard output" in done.stderr, status == 1)
        finally:
            os.close(writer)

    def test_worked_kernel_is_as_the_docs_print_it(self):
        docs = pathlib.Path(__file__).parents[2] / "docs" / "architecture.md"
        worked = docs.read_text(encoding="utf-8").split("### Sixteen points, as a kernel")[1]
        command, kernel = re.findall(r"(?s)```(?:sh|c)\n(.*?)```", worked)[:2]
        arguments = shlex.split(command.replace("\\\n", ""))
        self.assertEqual(arguments.pop(0), "kallima")
        for language in ("cuda", "opencl"):
            left = self.succeed(*arguments[:-1], language)
            for part in re.split(r"(?m)^ *\.\.\.\n", kernel):
                self.assertIn(part, left)
                left = left.split(part, 1)[1] if part else left


if __name__ == "__main__":
    unittest.main()
