# SPDX-License-Identifier: MIT
"""kallima compare: measuring beside a peer that does all that is wrong, going on where it was
stopped, what is refused, and what the report says of results that are known."""
import csv
import fcntl
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

from comparison import MACHINE, failed, lines, row, technology, whole
from support import PROGRAM, Case

FAULTY = os.environ["KALLIMA_FAULTY"]
BRIEF = ["--min-time", "0", "--max-time", "0.001", "--devices", "cpu"]


def cases(*lengths):
    return "".join(f"c2c f32 {n} 1\n" for n in lengths).encode()


def workers(program):
    """The processes of that program that measure: role -> state, as in /proc/PID/stat."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            state = (folder / "stat").read_text(encoding="utf-8").rpartition(") ")[2][0]
            is_of_program = (folder / "exe").samefile(program)
        except OSError:  # it has ended
            continue
        if is_of_program and b"--worker" in words:
            found[words[words.index(b"--worker") + 1].decode()] = state
    return found


class Comparison(Case):
    def compare(self, *arguments, program=PROGRAM, status=0, env=None, **more):
        (self.folder / "temporary").mkdir(exist_ok=True)
        more["env"] = dict(env or os.environ, TMPDIR=self.path("temporary"))
        done = subprocess.run([program, "compare", "--out", self.path("out"),
                               *map(str, arguments)], capture_output=True, timeout=120,
                              check=False, **more)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        self.assertEqual(list((self.folder / "temporary").iterdir()), [])
        return done.stdout.decode(), done.stderr.decode()

    def out(self, name):
        return self.folder / "out" / name

    def records(self, kind="row"):
        with self.out("results.jsonl").open(encoding="utf-8") as file:
            found = [json.loads(line) for line in file]
        return [record for record in found if record["record"] == kind]

    def keys(self):
        return [(record["technology"], record["lengths"]) for record in self.records()]

    def put(self, data):
        (self.folder / "out").mkdir(exist_ok=True)
        self.out("results.jsonl").write_bytes(data)


class Faults(Comparison):
    EXPECTED = {"3": "faulty: no <i>plan</i>, \"really\"", "5": "wrong: relative error",
                "7": "crashed: signal 6", "11": "no answer in 3 s",
                "13": "ended with status 9"}

    def test_each_costs_one_row(self):
        lengths = [4, 3, 5, 7, 11, 13, 17, 6]
        listed = self.write("cases.txt", b"[some] Some of them\n" + cases(*lengths))
        said, _ = self.compare("--cases", listed, "--peers", "faulty", "--time-limit", "3",
                               *BRIEF, program=FAULTY)
        found = {(record["technology"], int(record["lengths"])): record
                 for record in self.records()}
        self.assertEqual(len(self.records()), 2 * len(lengths))
        for n in lengths:
            ours, theirs = found["kallima cpu", n], found["faulty cpu", n]
            self.assertTrue(ours["ok"])
            self.assertGreater(ours["median_ms"], 0)
            self.assertLessEqual(ours["error"], ours["error_bound"])
            expected = self.EXPECTED.get(str(n))
            self.assertEqual(theirs["ok"], expected is None, theirs)
            self.assertEqual("median_ms" in theirs, expected is None, theirs)
            if not expected:
                self.assertIn(theirs["used"], ("in-place", "out-of-place"))
            else:
                self.assertIn(expected, theirs["failed"])
            self.assertEqual((ours["unsupported"], theirs["unsupported"]), (False, n == 3))
        self.assertIn("faulty cpu has no time in 4 of 8 cases", said)
        self.assertIn("faulty cpu does not support 1 of 8 cases, which is no failure: "
                      "c2c f32 3 (faulty: no", said)
        self.assertIn(b'{"ns": 1}', self.out("log.txt").read_bytes())
        self.check_files()

    def check_files(self):
        with self.out("results.csv").open(newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        records = self.records()
        self.assertEqual(len(table), len(records))
        for line, record in zip(table, records):
            for name, value in record.items():
                if isinstance(value, str) and name != "record":
                    self.assertEqual(line[name], value)
                elif isinstance(value, float):
                    self.assertAlmostEqual(float(line[name]), value)
        page = self.out("report.html").read_text(encoding="utf-8")
        self.assertIn("faulty: no &lt;i&gt;plan&lt;/i&gt;, &quot;really&quot;", page)
        self.assertIn("1 &lt;b&gt;&amp;", page)
        self.assertNotIn("<i>", page)
        self.assertNotIn("http://", page.replace("http://www.w3.org/", ""))
        self.assertEqual(sorted(p.name for p in self.out("").iterdir()),
                         ["log.txt", "report.html", "results.csv", "results.jsonl"])

    def test_the_first_plan_is_the_cold_one_whichever_placement_wins(self):
        self.compare("--cases", self.write("c.txt", cases(19)), "--peers", "faulty", *BRIEF,
                     program=FAULTY)
        theirs = self.records()[1]
        self.assertGreater(theirs["plan_ms"], 250)
        self.assertLess(theirs["replan_ms"], 250)

    def test_whoever_has_used_its_time_up_has_no_further_samples(self):
        listed = self.write("c.txt", b"c2c f32 29 1 in-place\n")  # plans: 3.2 s, then 20 ms each
        self.compare("--cases", listed, "--peers", "faulty", "--time-limit", "6", "--min-time",
                     "1.5", "--max-time", "1.5", "--devices", "cpu", program=FAULTY)
        ours, theirs = self.records()
        self.assertGreater(theirs["samples"], 0)
        self.assertLess(theirs["samples"], ours["samples"])

    def test_whoever_is_not_asked_is_stopped(self):
        done = []
        listed = self.write("c.txt", cases(11))
        measuring = threading.Thread(target=lambda: done.append(self.compare(
            "--cases", listed, "--peers", "faulty", "--time-limit", "3", *BRIEF,
            program=FAULTY)))
        measuring.start()
        seen = set()
        while measuring.is_alive():
            seen.add(tuple(sorted(workers(FAULTY).items())))
            time.sleep(0.05)
        measuring.join()
        self.assertTrue(done)
        # While the peer hangs, Kallima's process has no turn.
        self.assertIn((("faulty", "S"), ("kallima", "T")), seen)

    def test_what_computes_nothing_is_wrong(self):
        self.compare("--cases", self.write("c.txt", cases(8)), "--peers", "none", "--min-time",
                     "0", "--max-time", "0", "--devices", "cpu,null", status=1)
        self.assertEqual([record["ok"] for record in self.records()], [True, False])
        self.assertIn("wrong", self.records()[1]["failed"])

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "one processor")
    def test_all_processors_work_though_the_parent_is_bound_to_one(self):
        variables = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")}
        self.compare("--cases", self.write("c.txt", cases(64)), "--peers", "none", *BRIEF,
                     env=dict(variables, OMP_PROC_BIND="true"))
        used = [r["threads"] for r in self.records("technology")]
        self.assertEqual(used, [len(os.sched_getaffinity(0))])

    def test_what_a_device_does_not_support_is_no_failure(self):
        self.compare("--cases", self.write("c.txt", cases(8)), "--peers", "none", *BRIEF)
        double = self.write("d.txt", b"c2c f64 8 1\n")
        said, _ = self.compare("--cases", double, "--peers", "none", "--min-time", "0",
                               "--max-time", "0", "--devices", "nullopengles")
        ours = self.records()[1]
        self.assertEqual((ours["ok"], ours["unsupported"]), (False, True))
        self.assertIn("kallima nullopengles does not support 1 of 1 cases, which is no "
                      "failure: c2c f64 8 (plan: precision = f64;", said)
        self.assertNotIn("has no time", said)
        self.compare("--report-only")
        page = self.out("report.html").read_text(encoding="utf-8")
        self.assertIn("<td>unsupported</td>", page)
        self.put(self.out("results.jsonl").read_bytes().replace(b', "unsupported": true', b"")
                 .replace(b', "unsupported": false', b""))  # as it was written before
        said, _ = self.compare("--report-only", status=1)
        self.assertIn("kallima nullopengles has no time in 1 of 1 cases", said)

    def test_an_absent_peer_is_told_and_left_out(self):
        _, told = self.compare("--cases", self.write("c.txt", cases(8)), "--peers", "fftw",
                               "--fftw-dir", self.path("nowhere"), *BRIEF)
        self.assertRegex(told, r"fftw cpu is left out: .*libfftw3")
        self.assertEqual(self.keys(), [("kallima cpu", "8")])
        said, _ = self.compare("--report-only")
        self.assertRegex(said, r"fftw cpu took no part: .*libfftw3")

    def test_a_driver_that_crashes_leaves_the_others(self):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not compiler or not sys.platform.startswith("linux"):
            self.skipTest("no compiler, or another system")
        source = self.write("crash.c", b"#include <stdlib.h>\n"
                            b"__attribute__((constructor)) static void crash(void) { abort(); }\n")
        for name in ("libcuda.so.1", "libOpenCL.so.1", "libvulkan.so.1", "libEGL.so.1"):
            subprocess.run([compiler, "-shared", "-fPIC", "-o", self.path(name), source],
                           check=True)
        self.compare("--cases", self.write("c.txt", cases(8)), "--peers", "none", "--min-time",
                     "0", "--max-time", "0.001", env=dict(os.environ, LD_LIBRARY_PATH=self.folder))
        self.assertIn(("kallima cpu", "8"), self.keys())
        failed_ones = {record["id"]: record["failed"] for record in self.records("technology")
                       if "failed" in record}
        self.assertIn("kallima opengl", failed_ones)  # which is in every build
        for why in failed_ones.values():
            self.assertIn("crashed: signal 6", why)

    def test_one_that_took_no_part_may_do_so_later(self):
        listed = self.write("c.txt", cases(8))
        self.compare("--cases", listed, "--peers", "none", *BRIEF)
        with self.out("results.jsonl").open("ab") as file:
            file.write(lines(technology("faulty", "cpu", failed="no such library")))
        said, _ = self.compare("--report-only")
        self.assertIn("faulty cpu took no part: no such library.", said)
        for _ in range(2):
            said, _ = self.compare("--cases", listed, "--peers", "faulty", *BRIEF,
                                   program=FAULTY)
            self.assertEqual(self.keys(), [("kallima cpu", "8"), ("faulty cpu", "8")])
            self.assertNotIn("took no part", said)

    def test_layouts_are_cases_of_their_own(self):
        listed = self.write("c.txt", b"c2c f32 8 3\nc2c f32 8 3 stride=3 distance=1\n"
                                     b"c2c f32 8 3 planar\nr2c f32 8 3 in-place stride=2\n")
        for _ in range(2):  # the second time there is nothing left to do
            self.compare("--cases", listed, "--peers", "mkl,faulty", *BRIEF, program=FAULTY,
                         status=1)
        rows = {(record["technology"], record.get("layout", ""), record["placement"]): record
                for record in self.records()}
        self.assertEqual(len(rows), len(self.records()))
        for layout in ("", "stride=3 distance=1", "planar"):
            self.assertTrue(rows["kallima cpu", layout, "out-of-place"]["ok"])
            if ("mkl cpu", layout, "out-of-place") in rows:
                self.assertTrue(rows["mkl cpu", layout, "out-of-place"]["ok"])
            if layout:
                self.assertIn("packed, interleaved arrays only",
                              rows["faulty cpu", layout, "out-of-place"]["failed"])
        self.assertIn("in place", rows["kallima cpu", "stride=2", "in-place"]["failed"])


class GoingOn(Comparison):
    MANY = cases(*range(2, 60))

    def start(self):
        listed = self.write("many.txt", self.MANY)
        process = subprocess.Popen([PROGRAM, "compare", "--out", self.path("out"), "--cases",
                                    listed, "--peers", "none", *BRIEF],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(os.environ, TMPDIR=str(self.folder)))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if self.out("results.jsonl").exists() and \
                    self.out("results.jsonl").read_bytes().count(b'"row"') >= 2:
                return process, listed
            time.sleep(0.01)
        process.kill()
        self.fail("no rows in a minute")

    def finish(self, listed):
        self.compare("--cases", listed, "--peers", "none", *BRIEF)
        self.assertEqual(sorted(self.keys()),
                         sorted(("kallima cpu", str(n)) for n in range(2, 60)))

    def test_after_it_was_killed(self):
        process, listed = self.start()
        process.kill()
        process.wait()
        self.assertFalse(self.out("report.html").exists())
        with self.out("results.jsonl").open("ab") as file:
            file.write(b'{"record": "row", "technology": "kall')
        self.finish(listed)

    def interrupt(self, number):
        process, listed = self.start()
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(told, rb"interrupted with \d+ cases left")
        self.assertLess(len(self.records()), 58)
        self.assertTrue(self.out("report.html").exists())
        return listed

    def test_after_an_interrupt_which_draws_the_report(self):
        self.finish(self.interrupt(signal.SIGINT))

    def test_after_its_terminal_was_closed(self):
        listed = self.interrupt(signal.SIGHUP)
        self.assertEqual(list(self.folder.glob("kallima-compare-*")), [])
        self.finish(listed)

    def test_what_is_there_is_not_measured_again(self):
        listed = self.write("c.txt", cases(4, 8))
        self.compare("--cases", listed, "--peers", "none", *BRIEF)
        before = self.out("results.jsonl").read_bytes()
        self.compare("--cases", listed, "--peers", "none", *BRIEF)
        self.assertEqual(self.out("results.jsonl").read_bytes(), before)
        self.compare("--cases", self.write("c.txt", cases(4, 8, 16)), "--peers", "none", *BRIEF)
        self.assertTrue(self.out("results.jsonl").read_bytes().startswith(before))
        self.assertEqual(len(self.records()), 3)
        self.assertEqual(self.records("technology")[0]["flags"], "no wisdom")
        self.assertRegex(self.records("machine")[0]["compiler"], r"^(gcc|clang) \d")
        self.put(before.replace(b'"no wisdom"', b'"wisdom of 7 entries"'))
        _, told = self.compare("--cases", self.write("c.txt", cases(32)), "--peers", "none",
                               *BRIEF, status=1)
        self.assertRegex(told, r"wisdom of 7 entries\): choose another --out")

    def test_what_failed_is_measured_again_if_asked_for(self):
        listed = self.write("c.txt", cases(4, 3, 7))
        common = ["--cases", listed, "--peers", "faulty", *BRIEF]
        self.compare(*common, program=FAULTY)
        self.put(self.out("results.jsonl").read_bytes().replace(b"signal 6", b"signal 99"))
        self.compare(*common, program=FAULTY)
        self.assertEqual(len(self.records()), 6)
        said, _ = self.compare(*common, "--retry-failed", program=FAULTY)
        self.assertEqual(len(self.records()), 7)
        self.assertEqual(self.keys()[6], ("faulty cpu", "7"))
        self.assertIn("faulty cpu has no time in 1 of 3 cases: c2c f32 7 (crashed: signal 6 ",
                      said)
        self.assertEqual(self.compare("--report-only")[0], said)
        before = self.out("results.jsonl").read_bytes()  # and it may come to a time at last
        self.put(before + lines(row("faulty cpu", "cases", 7, 1)))
        self.assertNotIn("has no time", self.compare("--report-only")[0])
        self.compare(*common, "--retry-failed", program=FAULTY)
        self.assertEqual(len(self.records()), 8)

    def test_a_budget_ends_it(self):
        listed = self.write("many.txt", self.MANY)
        _, told = self.compare("--cases", listed, "--peers", "none", "--budget", "1",
                               "--min-time", "1", "--max-time", "1", "--devices", "cpu")
        self.assertRegex(told, r"the time is over with \d+ cases left")
        self.assertIn(("kallima cpu", "2"), self.keys())

    def test_other_machines_and_other_processes_are_refused(self):
        listed = self.write("c.txt", cases(4))
        self.put(lines(MACHINE))
        _, told = self.compare("--cases", listed, "--peers", "none", *BRIEF, status=1)
        self.assertIn("choose another --out", told)
        self.put(b"")
        with self.out("results.jsonl").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _, told = self.compare("--cases", listed, "--peers", "none", *BRIEF, status=1)
        self.assertIn("another process", told)


class Refusals(Comparison):
    CPU = technology("kallima", "cpu")
    GROUP = {"record": "group", "id": "g", "title": "G", "shows": "size"}

    def test_damaged_results_are_told_by_line(self):
        good = row("kallima cpu", "g", 4, 1)
        for broken, says in [
                (b"\n", "no object"), (b"[1]\n", "no object"), (b'{"a": 1\n', "does not end"),
                (b'{"record": "row"} x\n', "more than an object"),
                (b'{"record": "what"}\n', "known kind"), (b'{"record": "row"}\n', "missing"),
                (b'{"record": "a\x00"}\n', "control character"),
                (b'{"record": "\\ud800"}\n', "escape"),
                (b'{"record": "row", "record": "row"}\n', "twice"),
                (b"{" + b" " * 9000 + b"}\n", "too long"), (lines(MACHINE), "second machine"),
                (lines(self.GROUP), "same group"), (lines(self.CPU), "same technology"),
                (lines({**self.CPU, "id": "`rm`"}), "letters"),
                (lines({**self.GROUP, "id": "<g>"}), "letters"),
                (lines({**self.GROUP, "id": "h", "shows": "all"}), "shows"),
                (lines({**good, "new": 1}), "unknown"), (lines({**good, "ok": 1}), "another type"),
                (lines({**good, "lengths": "4x"}), "lengths"),
                (lines({**good, "batch": 0.5}), "batch"), (lines({**good, "kind": "z"}), "kind"),
                (lines({**good, "median_ms": -1}), "below zero"),
                (lines({**good, "variant": "'; system('"}), "letters"),
                (lines({**good, "failed": "x" * 999}), "too long"),
                (lines({**good, "technology": "x"}), "not listed"),
                (lines({**good, "group": "x"}), "not listed"), (lines(good, good), "twice"),
                (lines({**good, "unsupported": True}), "has no failure"),
                (lines({key: good[key] for key in good if key != "median_ms"}), "neither")]:
            with self.subTest(broken[:60]):
                self.put(lines(MACHINE, self.CPU, self.GROUP) + broken)
                _, told = self.compare("--report-only", status=1)
                self.assertRegex(told, r"results\.jsonl: line [45]: ")
                self.assertIn(says, told)
                self.assertEqual(told.count("\n"), 1)

    def test_results_must_begin_with_the_machine_in_a_known_format(self):
        for data, says in [(lines(self.CPU), "machine must come first"),
                           (lines({**MACHINE, "format": 2}), "format")]:
            self.put(data)
            _, told = self.compare("--report-only", status=1)
            self.assertIn("line 1: ", told)
            self.assertIn(says, told)

    def test_damaged_cases_are_told_by_line(self):
        for text, says in [("[a b] x\n", "a group is"), ("[a]\n[a]\n", "same group"),
                           ("c2c f32 8\n", "a case is"), ("recipe=x\n", "without a case"),
                           ("c2c f32 8 1 recipe=" + 300 * "x", "too long"), ("# none\n", "no cases")]:
            listed = self.write("c.txt", text.encode())
            self.refuse(1, "compare", "--cases", listed, "--out", self.path("o"), says=says)

    def test_usage_errors(self):
        for arguments in [["--preset", "all"], ["--budget", "0"], ["--time-limit", "-1"],
                          ["--devices", "cpu;x"], ["--devices", ","], ["--device", "cpu"],
                          ["--devices", "cpu", "--peers", "nonsense"], ["--cases"], ["extra"],
                          ["--devices", "cpu", "--peers", "../x"],
                          ["--devices", "cpu", "--peers", ","],
                          ["--devices", "cpu", "--peers", ""],
                          ["--devices", "cpu", "--peers", "none," * 80],
                          ["--cases", "x", "--preset", "quick"], ["--worker", "kallima"]]:
            with self.subTest(arguments):
                self.refuse(2, "compare", *arguments, "--out", self.folder, says="--help")

    def test_a_report_alone_takes_no_options_of_measuring(self):
        for option, value in [("preset", "quick"), ("cases", "x"), ("devices", "cpu"),
                              ("peers", "none"), ("budget", 9), ("time-limit", 9),
                              ("min-time", 1), ("max-time", 1), ("fftw-dir", "x"),
                              ("mkl-dir", "x"), ("baseline-dir", "x"),
                              ("fftw-effort", "patient")]:
            with self.subTest(option):
                self.refuse(2, "compare", "--report-only", f"--{option}", str(value), "--out",
                            self.folder, says=f"--{option}: --report-only measures nothing")

    def test_no_result_is_told(self):
        self.refuse(1, "compare", "--report-only", "--out", self.path("nowhere"),
                    says="no result")


class Report(Comparison):
    def draw(self, **more):
        self.put(whole())
        return self.compare("--report-only", **more)

    def test_sentences_are_computed_from_the_data(self):
        said, _ = self.draw()
        for sentence in [
                "cufft cuda:0 has no time in 1 of 7 cases: c2c f32 32 (crashed: signal 11",
                "kallima cpu is slower than the fastest other library there in 0 of 6 cases",
                "faster by more than the spread in 6. The geometric mean of the other's time "
                "over Kallima's is 2.00",
                "kallima cuda:0 is slower than the fastest other library there in 1 of 6 cases, "
                "in 1 of them by more than the spread",
                "Kallima's is 2.83 (above 1 Kallima is faster). The worst: c2c f32 16 (0.50 of "
                "the speed of cufft cuda:0).",
                "Powers of two: the fastest, or within the spread of it, is kallima cpu from 16 to "
                "256; kallima cuda:0 from 1k to 16k.",
                "Powers of two, with transfers: the fastest, or within the spread of it, is "
                "kallima cpu from 16 to 4k; kallima cuda:0 at 16k.",
                "faster than the fastest library on the processor is kallima cuda:0 from 1k on "
                "(with transfers from 16k on).",
                "Lanes: the fastest is on cuda:0 64 (16 has 0.25 of its speed).",
                "first and the second time, medians of all cases: kallima cpu 2 and 1;"]:
            self.assertIn(sentence, said)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_the_page_holds_everything(self):
        self.draw()
        page = self.out("report.html").read_text(encoding="utf-8")
        self.assertEqual(page.count("<svg "), 2 * 4)
        self.assertEqual(page.count("</svg>"), 2 * 4)
        for words in ["A &lt;processor&gt; &amp; more", "Powers of two: speed",
                      "time with and without transfers", "time of each variant", ">failed<",
                      "Median times with transfers in milliseconds",
                      '<td class="best" data-value="0.016">0.01600</td>',
                      '<td class="best" data-value="8.56384">8.564</td>']:
            self.assertIn(words, page)
        for name in ["src=", "@import", "url("]:
            self.assertNotIn(name, page)
        names = [part.split('"')[0] for part in page.split(' id="')[1:]]
        self.assertEqual(len(names), len(set(names)))
        rows = list(csv.reader(io.StringIO(self.out("results.csv").read_text())))
        self.assertEqual(len(rows), 1 + 6 * 4 + 3 + 1)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_many_technologies_leave_room_for_their_curves(self):
        group = {"record": "group", "id": "g", "title": "G", "shows": "size"}
        names = [f"kallima cuda:{i}" for i in range(16)]
        self.put(lines(MACHINE, group, *(technology(*name.split()) for name in names),
                       *(row(name, "g", n, n / 1000, total_ms=n) for name in names
                         for n in (16, 64))))
        self.compare("--report-only")
        page = self.out("report.html").read_text(encoding="utf-8")
        for svg in page.split("<svg ")[1:]:
            width = float(re.search(r'viewBox="0 0 (\d+) ', svg)[1])
            grid = re.findall(r"stroke='#dddddd'  d='M([\d.]+),[\d.]+ L([\d.]+),", svg)
            self.assertGreater(max(float(b) - float(a) for a, b in grid), 0.4 * width)
        for name in names:  # speed, part of the fastest, alone; twice each
            self.assertEqual(page.count(f">{name}</text>"), 6)
            self.assertEqual(page.count(f">{name} with transfers</text>"), 2)

    def test_tables_begin_in_the_order_of_size_and_say_what_they_are(self):
        group = {"record": "group", "id": "g", "title": "A & B", "shows": "size"}
        self.put(lines(MACHINE, group, technology("kallima", "cpu"), technology("fftw", "cpu"),
                       *(row(name, "g", n, 1) for n in (1024, 16, 4096, 64)
                         for name in ("fftw cpu", "kallima cpu"))))
        self.compare("--report-only")
        page = self.out("report.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'aria-label="([^"]*)"><table', page),
                         ["What was compared: technologies",
                          "A &amp; B: Median times in milliseconds",
                          "A &amp; B: Everything that was measured"])
        found = re.findall(r'>c2c f32 (\d+)</td><td class="text">(\w+)', page)
        self.assertEqual(found, [(str(n), name) for n in (16, 64, 1024, 4096)
                                 for name in ("kallima", "fftw")])

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_what_a_technology_lacks_moves_nothing(self):
        group = {"record": "group", "id": "g", "title": "G", "shows": "variant"}
        names = ["kallima opengl", "kallima cuda:0"]
        rows = [row(name, "g", 16, 8, variant=variant, asked=variant)
                for variant in "abcd" for name in names]
        rows[0] = {**failed(names[0], "g", 16, "no"), "variant": "a", "asked": "a"}
        self.put(lines(MACHINE, group, *(technology(*name.split()) for name in names), *rows))
        self.compare("--report-only", status=1)
        page = self.out("report.html").read_text(encoding="utf-8")
        wide = page.split('<div class="wide">')[1].partition("</div>")[0]
        first, second = (re.findall(
            r"<use [^>]*translate\(([\d.]+),[\d.]+\)[^>]*color='" + colour, wide)
            for colour in ("#0072b2", "#d55e00"))
        self.assertEqual((len(first), len(second)), (4, 5))  # the last is beside the name
        self.assertEqual(first, second[1:])

    def test_a_group_may_have_many_sizes(self):
        group = {"record": "group", "id": "g", "title": "G", "shows": "size"}
        names = ["kallima cpu", "fftw cpu"]
        self.put(lines(MACHINE, group, *(technology(*name.split()) for name in names),
                       *(row(name, "g", n, len(name)) for name in names
                         for n in range(2, 403))))
        said, _ = self.compare("--report-only")
        self.assertIn("is fftw cpu from 2 to 402.", said)

    def test_a_planner_that_was_cut_off_is_told(self):
        group = {"record": "group", "id": "g", "title": "G", "shows": "size"}
        self.put(lines(MACHINE, group, technology("kallima", "cpu"), technology("fftw", "cpu"),
                       *(row("kallima cpu", "g", n, 1) for n in (16, 64)),
                       row("fftw cpu", "g", 16, 2),
                       row("fftw cpu", "g", 64, 8, used="planning cut")))
        said, _ = self.compare("--report-only")
        self.assertIn("fftw cpu was told to end planning before it had in 1 of 2 cases", said)
        self.assertIn("is 4.00 (above 1 Kallima is faster), and 2.00 without the 1 in which", said)

    def test_choices_are_those_of_the_same_problem(self):
        group = {"record": "group", "id": "g", "title": "G", "shows": "size"}
        for more, says in [({}, True), ({"direction": "inverse"}, False),
                           ({"layout": "planar"}, False)]:
            self.put(lines(MACHINE, group, technology("kallima", "cpu"),
                           row("kallima cpu", "g", 16, 1),
                           row("kallima cpu", "g", 16, 2, precision="f64", **more)))
            said, _ = self.compare("--report-only")
            self.assertEqual("f64 has 0.50 of the speed" in said, says)

    def test_sentences_are_whole_however_long(self):
        group = {"record": "group", "id": "g", "title": "G", "shows": "size"}
        names = ["kallima cpu", "fftw cpu"]
        self.put(lines(MACHINE, group, *(technology(*name.split()) for name in names),
                       *(row(name, "g", n, 1 + (n + i) % 2)
                         for i, name in enumerate(names) for n in range(1000, 1400)),
                       failed("fftw cpu", "g", 7, "because " * 30 + "so")))
        said, _ = self.compare("--report-only")
        self.assertIn("kallima cpu at 1398; fftw cpu at 1399.\n", said)
        self.assertIn("because because so).\n", said)

    def test_a_copy_stands_beside_what_no_cache_holds(self):
        group = {"record": "group", "id": "g", "title": "G", "shows": "size"}
        self.put(lines(MACHINE, group, technology("kallima", "cpu"),
                       *(row("kallima cpu", "g", n, 1, bytes=size, x_copy=part)
                         for n, size, part in [(16, 128 << 20, 0.5), (64, 256 << 20, 0.5),
                                               (256, (128 << 20) - 1, 1.5)])))
        said, _ = self.compare("--report-only")
        self.assertIn("G, where at least 128 MiB are read and written: of the speed of a copy on "
                      "its device, as a geometric mean of 2 cases, reaches kallima cpu 0.50.", said)
        self.assertNotIn('data-value="1.5"', self.out("report.html").read_text(encoding="utf-8"))

    def test_cases_of_one_size_are_told_apart(self):
        group = {"record": "group", "id": "g", "title": "G", "shows": "size"}
        names = ["kallima cpu", "fftw cpu"]
        self.put(lines(MACHINE, group, *(technology(*name.split()) for name in names),
                       *(row(name, "g", n, n, batch=batch) for name in names
                         for n in (16, 64) for batch in (1, 100))))
        said, _ = self.compare("--report-only")
        self.assertNotIn("fastest of a range", said)
        if shutil.which("gnuplot"):
            page = self.out("report.html").read_text(encoding="utf-8")
            self.assertIn("length of each case, in the order of the table", page)

    def test_without_gnuplot_there_are_tables(self):
        _, told = self.draw(env=dict(os.environ, PATH=self.path("nowhere")))
        self.assertEqual(told.count("\n"), 1)
        self.assertIn("gnuplot", told)
        page = self.out("report.html").read_text(encoding="utf-8")
        self.assertNotIn("<svg", page)
        self.assertIn("There are no charts", page)
        self.assertGreater(page.count("<table>"), 3)

    def test_drawing_changes_no_results(self):
        self.draw()
        self.assertEqual(self.out("results.jsonl").read_bytes(), whole())
        first = self.out("report.html").read_bytes()
        self.compare("--report-only")
        self.assertEqual(self.out("report.html").read_bytes(), first)
        self.assertEqual(pathlib.Path(self.out("report.html.svg")).exists(), False)


if __name__ == "__main__":
    unittest.main()
