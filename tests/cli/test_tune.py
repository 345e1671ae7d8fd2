# SPDX-License-Identifier: MIT
"""kallima tune from outside: what it refuses, what it prints, what it keeps, and what plans
make of it afterwards. No claim on times but their order."""
import json
import os
import pty
import re
import signal
import subprocess
import unittest

from support import PROGRAM, Case

FIRST = "kallima-wisdom 1\n"
BRIEF = ("--budget", "0.2")
MANY = "".join("c2c f32 %d 1\n" % n for n in range(4000, 4400, 4))
FATES = ("faster", "slower", "same", "wrong", "refused", "untried")
CONSTANTS = ("bytes-per-second", "exchange-bytes-per-second", "launch-seconds",
             "operations-per-second")
DECISIONS = ("algorithm", "split", "padding", "radices", "parameter")


class Tune(Case):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, KALLIMA_WISDOM=self.path("wisdom"),
                                KALLIMA_DEVICE="cpu", OMP_NUM_THREADS="1")
        self.environment.pop("KALLIMA_WISDOM_READ_ONLY", None)

    def run_program(self, *arguments, **more):
        return super().run_program(*arguments, **{"env": self.environment, **more})

    def start(self, *arguments, **more):
        return subprocess.Popen([PROGRAM, *arguments], env=self.environment, **more)

    def tune(self, *arguments):
        """The rows of problems that are tuned; the words on standard error."""
        done = self.run_program("tune", *BRIEF, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return ([json.loads(line) for line in done.stdout.splitlines()],
                done.stderr.decode())

    def kept(self, kind="plan"):
        """The entries of one kind in the file, which must be sound to the last line."""
        self.succeed("wisdom", "check", self.path("wisdom"))
        return json.loads(self.succeed("wisdom", "list", "--json", "--kind", kind))

    def recipe(self, *arguments):
        return json.loads(self.succeed("plan", "--json", *arguments))["recipe"]

    def assert_row(self, row):
        self.assertEqual(set(row), {"problem", "default_ns", "default_spread", "tuned_ns",
                                    "tuned_spread", "batch", "considered", "tried", "wrong",
                                    "rank_correlation", "first_choice",
                                    "parameter_gain", "recipe"})
        self.assertGreater(row["tuned_ns"], 0)
        self.assertLessEqual(row["tuned_ns"], row["default_ns"])
        self.assertGreaterEqual(min(row["default_spread"], row["tuned_spread"]), 0)
        self.assertGreaterEqual(row["batch"], 1)
        self.assertGreaterEqual(row["tried"], 1)
        self.assertGreaterEqual(row["considered"], row["tried"])
        self.assertEqual(row["wrong"], 0)
        self.assertLessEqual(abs(row["rank_correlation"]), 1)
        self.assertGreaterEqual(row["first_choice"], 1)
        self.assertGreaterEqual(row["parameter_gain"], 1)
        gain = row["default_ns"] / row["tuned_ns"]  # of which it is a part, in four digits
        self.assertLessEqual(row["parameter_gain"], gain * 1.001)
        self.assertNotEqual(row["recipe"], "")


class Arguments(Tune):
    def test_usage_errors_end_with_2(self):
        for arguments, words in [
                (["--budget", "0", "8"], "--budget 0: must be a time"),
                (["--budget", "x", "8"], "--budget x: must be a time"),
                (["--budget", "3w", "8"], "--budget 3w: must be a time"),
                (["--budget", "-1", "8"], "--budget -1: must be a time"),
                (["--budget", "nan", "8"], "--budget nan: must be a time"),
                (["--budget", "1e308h", "8"], "--budget 1e308h: must be a time"),
                (["--effort", "lazy", "8"], "measure, patient, exhaustive"),
                (["--effort", "estimate", "8"], "measure, patient, exhaustive"),
                (["--memory", "0", "8"], "--memory 0: must be a number of MiB"),
                (["--memory", "1.5", "8"], "--memory 1.5: must be a number of MiB"),
                ([], "give lengths"), (["--json"], "give lengths"),
                (["--kind", "r2c", "--inverse", "8"], "r2c is forward only"),
                (["--cases", "file", "8"], "not both"), (["8x"], "lengths 8x"),
                (["--batch", "0", "8"], "--batch 0"), (["--budget"], "needs a value"),
                (["--verbose=1", "8"], "takes no value"), (["--nonsense"], "unknown option")]:
            with self.subTest(arguments):
                self.refuse(2, "tune", *arguments, says=[words, "--help"])

    def test_cases_that_cannot_be_read_are_told(self):
        self.refuse(1, "tune", "--cases", self.path("absent"), says="absent")
        for text in (b"", b"# nothing\n", b"c2c f32 8\n", b"c2c f16 8 1\n"):
            self.refuse(1, "tune", "--cases", self.write("cases", text), says="cases")

    def test_help_names_every_option(self):
        text = self.succeed("tune", "--help")
        for option in ("--cases", "--kind", "--precision", "--batch", "--inverse",
                       "--in-place", "--effort", "--budget", "--memory", "--verbose",
                       "--json", "--device", "--threads"):
            self.assertIn(option, text)


class Output(Tune):
    def test_json_has_a_line_for_each_problem(self):
        rows, table = self.tune("16", "6x4")
        self.assertEqual([row["problem"] for row in rows], ["c2c f32 16 1", "c2c f32 6x4 1"])
        for row in rows:
            self.assert_row(row)
            self.assertEqual(row["batch"], 1)
            self.assertIn(row["problem"], table)
        self.assertIn("geometric mean", table)

    def test_the_table_has_a_line_for_each_problem(self):
        lines = self.succeed("tune", *BRIEF, "16", "20").splitlines()
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[0], r"\Aproblem +default us +tuned us +gain +plan\Z")
        for line, problem in zip(lines[1:], ("c2c f32 16 1", "c2c f32 20 1")):
            self.assertRegex(line, r"\A%s +[\d.]+ +[\d.]+ +[\d.]+x  \w" % problem)
        last = r"\Ageometric mean +([\d.]+)x  by recipes ([\d.]+)x, by parameters ([\d.]+)x\Z"
        self.assertRegex(lines[3], last)
        mean, recipes, parameters = map(float, re.match(last, lines[3]).groups())
        self.assertGreaterEqual(min(recipes, parameters), 1)
        self.assertAlmostEqual(mean, recipes * parameters,  # each in two decimals
                               delta=0.006 * (1 + recipes + parameters))

    def test_cases_say_all_of_a_problem(self):
        cases = (b"c2c f64 12 3 in-place # a comment\n"
                 b"r2c f32 8x6 2\nc2r f32 10 1\nc2c f32 9 1 inverse\n")
        rows, _ = self.tune("--cases", self.write("cases", cases))
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assert_row(row)
        keys = " ".join(entry["key"] for entry in self.kept())
        for words in ("c2c f64 n=12 batch=3 forward in-place", "r2c f32 n=8x6 batch=2",
                      "c2r f32 n=10", "c2c f32 n=9 batch=1 inverse"):
            self.assertIn(words, keys)

    def test_verbose_names_every_candidate(self):
        rows, said = self.tune("--verbose", "240")
        lines = re.findall(r"^  (\w+) +(\w+) +predicted +\S+ us(?: measured +\S+ us)?  (\S.*)$",
                           said, re.MULTILINE)
        self.assertEqual(said.splitlines()[:2], ["measuring the device", "c2c f32 240 1"])
        self.assertGreaterEqual(len(lines), rows[0]["tried"])
        self.assertEqual({line[0] for line in lines} - set(DECISIONS), set())
        self.assertEqual({line[1] for line in lines} - set(FATES), set())
        self.assertEqual(lines[0][:2], ("algorithm", "faster"))
        self.assertIn(rows[0]["recipe"], [line[2] for line in lines])

    def test_memory_leaves_transforms_out(self):
        rows, table = self.tune("--memory", "1", "--batch", "4096", "256")
        self.assert_row(rows[0])
        self.assertLess(rows[0]["batch"], 4096)
        self.assertIn("(times of %d transforms)" % rows[0]["batch"], table)
        [entry] = self.kept()
        self.assertIn("n=256 batch=4096", entry["key"])
        self.assertAlmostEqual(entry["time_ns"],
                               rows[0]["tuned_ns"] * 4096 / rows[0]["batch"], delta=0.01)

    def test_no_time_is_a_failure(self):
        self.write("wisdom", FIRST.encode())
        self.write("wisdom.lock", b"")
        self.refuse(1, "tune", "--budget", "1e-9", "64", says="c2c f32 64 1: no time")
        self.assertEqual(self.kept(), [])


class Kept(Tune):
    def test_a_new_process_follows_what_was_learnt(self):
        rows, _ = self.tune("240", "1155", "1000")
        entries = self.kept()
        self.assertEqual(len(entries), 3)
        for row, n in zip(rows, ("240", "1155", "1000")):
            [entry] = [e for e in entries if " n=%s " % n in e["key"]]
            self.assertEqual((entry["effort"], entry["value"]), ("measure", row["recipe"]))
            self.assertAlmostEqual(entry["time_ns"], row["tuned_ns"], delta=0.01)
            self.assertEqual(self.recipe(n), row["recipe"])
            self.assertEqual(self.recipe(n, "--planning", "wisdom-only"), row["recipe"])
        self.environment["KALLIMA_WISDOM"] = ""
        self.refuse(1, "plan", "240", "--planning", "wisdom-only",
                    says="no wisdom of this problem")

    def test_the_device_is_measured_once(self):
        _, said = self.tune("--verbose", "8", "10")
        self.assertEqual(said.count("measuring the device\n"), 1)
        facts = {entry["key"]: entry["value"] for entry in self.kept("fact")}
        self.assertEqual(set(facts), {*CONSTANTS, "cost-model"})
        listed = self.succeed("wisdom", "list", "--kind", "fact")
        shown = self.succeed("wisdom", "show", "--kind", "fact")
        for name in CONSTANTS:
            self.assertGreater(float(facts[name]), 0)
            self.assertIn("%.4g  %s\n" % (float(facts[name]), name), listed)
            self.assertIn("fact     %s\n" % name, shown)
            self.assertIn("value    %s\n" % facts[name], shown)
        _, said = self.tune("--verbose", "12")
        self.assertNotIn("measuring", said)
        again = {entry["key"]: entry["value"] for entry in self.kept("fact")}
        self.assertEqual([again[name] for name in CONSTANTS],
                         [facts[name] for name in CONSTANTS])

    def test_effort_is_kept(self):
        self.tune("--effort", "patient", "8")
        self.assertEqual({entry["effort"] for entry in self.kept()}, {"patient"})

    def test_the_same_again_keeps_one_entry(self):
        for _ in range(2):
            rows, _ = self.tune("1")
            self.assertEqual(rows[0]["tried"], 1)  # all its recipes are one kernel
        self.assertEqual(len(self.kept()), 1)
        for _ in range(2):
            rows, _ = self.tune("240")
        entries = [e for e in self.kept() if " n=240 " in e["key"]]
        self.assertEqual(len({entry["value"] for entry in entries}), len(entries))
        best = min(entries, key=lambda entry: entry["time_ns"])
        self.assertEqual(rows[0]["recipe"], best["value"])
        self.assertEqual(self.recipe("240"), best["value"])

    def test_what_changes_nothing_is_not_tried(self):
        self.tune("2")  # one line has nothing to fetch, and nothing to drive out of the caches
        tried = [entry["value"] for entry in self.kept("trial")]
        self.assertIn("local(2)", tried)
        for name in ("fetch", "hints", "threads"):
            self.assertEqual([recipe for recipe in tried if name in recipe], [])

    def test_programs_that_tune_at_once_lose_nothing(self):
        lengths = [("12", "20", "28"), ("36", "44", "52")]
        running = [self.start("tune", *BRIEF, *some, stdout=subprocess.DEVNULL)
                   for some in lengths]
        self.assertEqual([one.wait() for one in running], [0, 0])
        keys = " ".join(entry["key"] for entry in self.kept())
        for some in lengths:
            for n in some:
                self.assertIn(" n=%s " % n, keys)

    def test_what_cannot_be_kept_is_not_tuned(self):
        self.environment["KALLIMA_WISDOM"] = "/dev/null/wisdom"
        self.refuse(1, "tune", *BRIEF, "8", "16", says="/dev/null/wisdom: cannot be locked")
        (self.folder / "folder").mkdir()
        self.write("folder.lock", b"")
        self.environment["KALLIMA_WISDOM"] = self.path("folder")
        # That it cannot be read is told when the device is opened, too.
        done = self.run_program("tune", *BRIEF, "8", "16")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"no plain file", done.stderr)
        self.environment["KALLIMA_WISDOM"] = ""
        self.refuse(1, "tune", *BRIEF, "8", "16", says="kept nowhere")

    def test_read_only_is_not_written(self):
        self.write("wisdom", FIRST.encode())
        self.environment["KALLIMA_WISDOM_READ_ONLY"] = "1"
        self.refuse(1, "tune", *BRIEF, "8", "16", says="read-only")
        self.assertEqual(self.kept(), [])

    def test_a_full_disk_ends_the_work(self):
        self.write("wisdom.lock", b"")
        self.write("wisdom", FIRST.encode())
        done = self.run_program("tune", *BRIEF, "8", "16", limit=100)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"\Akallima: wisdom: [^\n]*File too large\n\Z")
        self.assertIn(b"c2c f32 8 1", done.stdout)
        self.assertNotIn(b"c2c f32 16 1", done.stdout)
        self.assertEqual(self.kept(), [])


class GoodSize(Tune):
    def good(self, *arguments):
        return self.succeed("good-size", *arguments).split()

    def test_lengths_are_near_and_never_shorter(self):
        for n in (1, 2, 1000, 1021, 4099):
            self.assertTrue(n <= int(self.good(str(n))[0]) <= 1.25 * n)
        self.assertGreater(int(self.good("4099", "--batch", "100")[0]), 4099)
        first, second = (int(n) for n in self.good("1021x16")[0].split("x"))
        self.assertTrue(1021 < first <= 1276 and 16 <= second <= 20)
        self.assertEqual(len(self.good("8", "9", "10", "--kind", "r2c")), 3)

    def test_what_was_tuned_decides(self):
        owner = json.loads(self.succeed("wisdom", "list", "--json") or "[]")
        self.assertEqual(owner, [])
        self.tune("1024")
        entry = self.kept()[0]
        with open(self.path("wisdom"), "a", encoding="ascii") as file:
            file.write(" ".join(['plan', '"%s"' % entry["device"], '"%s"' % entry["driver"],
                                 '"%s"' % entry["version"],
                                 '"%s"' % entry["key"].replace("1024", "1001"),
                                 '"local(7.11.13)"', "measure", "1", "0"]) + "\n")
        self.assertEqual(self.good("1000"), ["1001"])

    def test_usage_errors_end_with_2(self):
        for arguments, words in [([], "give lengths"), (["8x"], "lengths 8x"),
                                 (["--kind", "dct", "8"], "c2c, r2c, c2r"),
                                 (["--nonsense"], "unknown option")]:
            with self.subTest(arguments):
                self.refuse(2, "good-size", *arguments, says=[words, "--help"])


class Interrupted(Tune):
    def test_what_was_learnt_is_kept(self):
        cases = self.write("cases", MANY.encode())
        running = self.start("tune", *BRIEF, "--json", "--cases", cases,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = running.stdout.readline()
        running.send_signal(signal.SIGINT)
        rest, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, said)
        self.assertRegex(said.decode(),
                         r"\nkallima: tune: interrupted; what was learnt is kept\n\Z")
        rows = [json.loads(line) for line in (first + rest).splitlines()]
        for row in rows:
            self.assert_row(row)
        self.assertLess(len(rows), len(MANY.splitlines()))
        self.assertEqual({entry["value"] for entry in self.kept()},
                         {row["recipe"] for row in rows})
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["cases", "wisdom", "wisdom.lock"])


class Terminal(Tune):
    def read_until(self, terminal, pattern):
        """What appears on a terminal up to a pattern, or to the end."""
        seen = b""
        while not re.search(pattern, seen):
            try:
                more = os.read(terminal, 4096)
            except OSError:
                break # the program has ended
            if not more:
                break
            seen += more
        return seen

    def test_the_bar_has_the_time_left(self):
        bar = rb"\rtuning, plan \d+ \[#*\.*\] +\d+ %, about \d+ (s|min) left\x1b\[K"
        cases = self.write("cases", MANY.encode())
        terminal, other = pty.openpty()
        self.addCleanup(os.close, terminal)
        running = self.start("tune", *BRIEF, "--cases", cases, stdout=subprocess.PIPE,
                             stderr=other)
        os.close(other)
        seen = self.read_until(terminal, bar)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        self.assertRegex(seen, bar)
        self.assertEqual(seen.count(b"\rmeasuring the device\x1b[K"), 1)
        self.assertEqual(running.returncode, 130)
        # It is wiped off before anything else is said.
        rest = self.read_until(terminal, rb"kept\r\n")
        self.assertIn(b"\r\x1b[Kkallima: tune: interrupted", rest)

    def test_one_problem_moves(self):
        bar = rb"\[(#*)\.*\] +(\d+) %, about"
        terminal, other = pty.openpty()
        self.addCleanup(os.close, terminal)
        running = self.start("tune", "--effort", "exhaustive", "--budget", "20", "--precision",
                             "f64", "720720", stdout=subprocess.PIPE, stderr=other)
        os.close(other)
        seen = self.read_until(terminal, bar + rb"[^\r]*\r(?s:.)*" + bar)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        shares = [int(share) for _, share in re.findall(bar, seen)]
        self.assertGreaterEqual(len(shares), 2, seen)
        self.assertEqual(shares, sorted(shares))
        self.assertGreater(shares[-1], 0)
        self.assertLess(shares[-1], 100)


class Nothing(Tune):
    def test_a_device_that_computes_nothing_learns_no_plan(self):
        self.environment["KALLIMA_KERNEL_CACHE"] = ""
        for device in ("null", "nullcuda", "nullopencl"):
            for _ in range(2): # what is known to be wrong is wrong the second time, too
                done = self.run_program("tune", *BRIEF, "--device", device, "64")
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertRegex(done.stderr.decode(),
                                 r"\Akallima: c2c f32 64 1: tune: [^\n]* none computes the "
                                 r"problem rightly on this device: [1-9]\d* wrong, 0 refused"
                                 r"\n\Z")
        self.assertEqual(self.kept(), [])
        self.assertEqual(self.kept("fact"), [])
        self.assertGreater(len(self.kept("bad")), 0)

    def test_an_absent_device_is_told(self):
        self.refuse(1, "tune", "--device", "cuda:99", "8", says="cuda")


if __name__ == "__main__":
    unittest.main()
