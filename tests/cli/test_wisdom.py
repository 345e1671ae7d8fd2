# SPDX-License-Identifier: MIT
"""Wisdom from outside: listed, shown, merged, forgotten, checked, and followed by plans."""
import json
import os
import subprocess
import unittest

from support import PROGRAM, Case

FIRST = "kallima-wisdom 1\n"
PROBLEM = ("c2c f32 n=240 batch=1 forward out-of-place in=interleaved@0:240,1 "
           "out=interleaved@0:240,1")
RECIPE = "local(3.5.2.2.2.2)"


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def line(kind, owner, *fields):
    return " ".join([kind, *map(quote, owner), *map(str, fields)]) + "\n"


def plan(owner, problem=PROBLEM, recipe=RECIPE, rest="measure 812.5 0.0123"):
    return line("plan", owner, quote(problem), quote(recipe), rest)


class Wisdom(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("wisdom")
        self.environment = dict(os.environ, KALLIMA_WISDOM=self.file, OMP_NUM_THREADS="1")
        self.environment.pop("KALLIMA_WISDOM_READ_ONLY", None)
        devices = json.loads(self.succeed("devices", "--json"))
        self.version = self.succeed("--version").split()[1]
        self.owner = {}
        for device in devices:
            api = device["selector"].split(":")[0]
            driver = device["driver"] + (", 1 thread" if api == "cpu" else "")
            self.owner.setdefault(api, (api + " " + device["name"], driver, self.version))

    def run_program(self, *arguments, **more):
        return super().run_program(*arguments, **{"env": self.environment, **more})

    def put(self, *lines, name="wisdom"):
        return self.write(name, (FIRST + "".join(lines)).encode())

    def get(self, name="wisdom"):
        return (self.folder / name).read_text(encoding="ascii")

    def recipe(self, *more, device="cpu", lengths="240"):
        return json.loads(self.succeed("plan", lengths, "--device", device, "--json",
                                       *more))["recipe"]

    def fail(self, *arguments, says=()):
        """The program ends with 1; returns its output and its sentences."""
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 1, (arguments, done.stderr))
        for words in says:
            self.assertIn(words, (done.stdout + done.stderr).decode())
        return done.stdout.decode(), done.stderr.decode().splitlines()


class Plans(Wisdom):
    def test_a_new_process_follows_what_is_known(self):
        for device in ("cpu", "nullcuda", "nullopencl", "null"):
            fixed = self.recipe("--planning", "fixed", device=device)
            self.assertNotEqual(fixed, RECIPE)
            self.put()
            self.assertEqual(self.recipe(device=device), fixed)
            self.refuse(1, "plan", "240", "--device", device, "--planning", "wisdom-only",
                        says="no wisdom of this problem")
            self.put(plan(self.owner[device]))
            self.assertEqual(self.recipe(device=device), RECIPE)
            self.assertEqual(self.recipe("--planning", "wisdom-only", device=device), RECIPE)
            self.assertEqual(self.recipe("--planning", "fixed", device=device), fixed)
            self.assertEqual(self.recipe("--recipe", fixed, device=device), fixed)

    def test_the_environment_says_where_it_is(self):
        self.put(plan(self.owner["cpu"]), name="other")
        fixed = self.recipe()
        self.assertNotEqual(fixed, RECIPE)
        self.environment["KALLIMA_WISDOM"] = self.path("other")
        self.assertEqual(self.recipe(), RECIPE)
        for nowhere in ("", "off"):
            self.environment["KALLIMA_WISDOM"] = nowhere
            self.assertEqual(self.recipe(), fixed)
        del self.environment["KALLIMA_WISDOM"]
        (self.folder / "kallima").mkdir()
        self.put(plan(self.owner["cpu"]), name="kallima/wisdom")
        self.environment["XDG_CACHE_HOME"] = str(self.folder)
        self.assertEqual(self.recipe(), RECIPE)

    def test_devices_that_compute_nothing_have_only_a_file_that_is_named(self):
        (self.folder / "kallima").mkdir()
        self.environment["XDG_CACHE_HOME"] = str(self.folder)
        for device in ("null", "nullcuda", "nullopencl"):
            self.put(plan(self.owner[device]), name="kallima/wisdom")
            known = self.get("kallima/wisdom")
            del self.environment["KALLIMA_WISDOM"]
            self.assertNotEqual(self.recipe(device=device), RECIPE)
            self.refuse(1, "tune", "--device", device, "240", says="kept nowhere")
            self.assertEqual(self.get("kallima/wisdom"), known)
            self.environment["KALLIMA_WISDOM"] = self.path("kallima/wisdom")
            self.assertEqual(self.recipe(device=device), RECIPE)

    def test_other_threads_versions_and_problems_do_not_count(self):
        device, driver, _ = self.owner["cpu"]
        for entry in (plan((device, driver, "0.0.1")), plan((device, "old", self.version)),
                      plan(("cpu X", driver, self.version)),
                      plan(self.owner["cpu"], PROBLEM.replace("batch=1", "batch=2"))):
            self.put(entry)
            self.refuse(1, "plan", "240", "--device", "cpu", "--planning", "wisdom-only",
                        says="no wisdom of this problem")

    def test_what_is_left_alone_is_said(self):
        fixed = self.recipe()
        for content, words in [
                (FIRST + plan(self.owner["cpu"], recipe="local(7)"),
                 "is not followed: recipe: "),
                (FIRST + "x\n", "line 2: character 1: the line must begin"),
                ("kallima-wisdom 9\n", "line 1: its format is 9; this library reads 1")]:
            self.write("wisdom", content.encode())
            done = self.run_program("plan", "240", "--device", "cpu", "--json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["recipe"]),
                             (0, fixed))
            self.assertRegex(done.stderr.decode(), r"\Akallima: [^\n]*\n\Z")
            self.assertIn(words, done.stderr.decode())


class Look(Wisdom):
    def setUp(self):
        super().setUp()
        cpu = self.owner["cpu"]
        self.entries = [
            plan(cpu), plan(cpu, recipe="local(15.16)", rest="patient 900 0"),
            plan(cpu, PROBLEM.replace("240", "2400")),
            plan(("cuda NVIDIA \"X\"", "12", "0.0.1"), rest="exhaustive 41250 0.5"),
            line("bad", cpu, quote(PROBLEM), quote("local(240)"), quote("an error of 1")),
            line("fact", cpu, quote("bandwidth"), quote("1e10 2"), "0.25"),
            line("pass", cpu, quote("3f2a"), "12.5 0"),
            line("trial", cpu, quote(PROBLEM), quote("local(15.16)"), "1500 950 0.01"),
        ]
        self.put(*self.entries)

    def test_list_has_a_line_for_each_entry(self):
        text = self.succeed("wisdom", "list")
        self.assertEqual(sum(t.startswith("  ") for t in text.splitlines()),
                         len(self.entries))
        for words in ("812.5 ns", "41.25 us", "patient", "exhaustive", "bandwidth", "3f2a",
                      'cuda NVIDIA "X", 12, library 0.0.1\n'):
            self.assertIn(words, text)

    def test_json_has_all_there_is(self):
        entries = json.loads(self.succeed("wisdom", "list", "--json"))
        self.assertEqual(len(entries), len(self.entries))
        self.assertEqual({e["kind"] for e in entries}, {"plan", "bad", "fact", "pass",
                                                        "trial"})
        [first] = [e for e in entries if e["value"] == RECIPE and e["key"] == PROBLEM and
                   e["device"].startswith("cpu")]
        self.assertEqual((first["effort"], first["time_ns"], first["spread"],
                          first["version"]), ("measure", 812.5, 0.0123, self.version))
        self.put()
        self.assertEqual(json.loads(self.succeed("wisdom", "list", "--json")), [])

    def test_filters_select(self):
        def count(*arguments):
            return len(json.loads(self.succeed("wisdom", "list", "--json", *arguments)))
        self.assertEqual(count("--kind", "plan"), 4)
        self.assertEqual(count("--kind", "trial"), 1)
        self.assertEqual(count("--problem", "* n=240 *"), 5)
        self.assertEqual(count("--problem", PROBLEM, "--kind", "bad"), 1)
        self.assertEqual(count("--owner", "cuda *"), 1)
        self.assertEqual(count("--device", "cpu"), len(self.entries) - 1)
        self.assertEqual(count("--device", "nullcuda"), 0)
        self.put(name="empty")
        self.assertEqual(count("--file", self.path("empty")), 0)

    def test_show_says_what_is_used(self):
        text = self.succeed("wisdom", "show", "240", "--device", "cpu")
        self.assertEqual(text.count("\nused "), 5)
        for words in ("no: a better recipe of the problem is known", "used     yes",
                      'no: it is of another device: "cuda NVIDIA', "recipe   local(15.16)",
                      "reason   an error of 1", "time     812.5 ns, spread 1.23%",
                      "time     950 ns, spread 1.00%\nforeseen 1.5 us"):
            self.assertIn(words, text)
        self.assertNotIn("2400", text)
        [used] = [e for e in json.loads(self.succeed("wisdom", "show", "--json", "--device",
                                                     "cpu", "--kind", "plan", "240"))
                  if not e["not_used"]]
        self.assertEqual(used["value"], "local(15.16)")

    def test_check_counts_and_refuses(self):
        text = self.succeed("wisdom", "check")
        self.assertIn("3 plan entries of cpu", text)
        self.assertIn("another version of the library", text)
        self.assertIn("another device", self.succeed("wisdom", "check", "--device", "null"))
        self.write("damaged", (FIRST + "\n" + self.entries[0] + self.entries[1][:-9]).encode())
        out, sentences = self.fail("wisdom", "check", self.path("damaged"), self.file)
        self.assertEqual(sentences, ["kallima: wisdom: 2 lines are refused"])
        self.assertIn("damaged: line 2: character 1: the line must begin", out)
        self.assertIn("damaged: line 4: the line is cut short", out)
        self.assertIn("3 plan entries of cpu", out)
        self.refuse(1, "wisdom", "check", self.path("absent"), says="absent")

    def test_damaged_lines_do_not_hide_the_others(self):
        self.put("nonsense\n", *self.entries)
        out, sentences = self.fail("wisdom", "list", "--json")
        self.assertEqual(len(json.loads(out)), len(self.entries))
        self.assertEqual(len(sentences), 1)
        self.assertIn("line 2: ", sentences[0])


class Change(Wisdom):
    def test_merge_keeps_the_better(self):
        cpu = self.owner["cpu"]
        slow, fast = plan(cpu), plan(cpu, rest="measure 700 0.5")
        foreign = plan(("cuda X", "12", "0.0.1"))
        a = self.put(slow, foreign, name="a")
        b = self.put(fast, name="b")
        for into, order in (("ab", (a, b)), ("ba", (b, a)), ("aab", (a, a, b))):
            self.assertEqual(self.succeed("wisdom", "merge", self.path(into), *order), "")
            self.assertEqual(self.get(into), FIRST + fast + foreign)
        self.assertEqual(self.succeed("wisdom", "merge", a, b), "")
        self.assertEqual(self.get("a"), FIRST + fast + foreign)
        self.assertEqual(self.get("b"), FIRST + fast)

    def test_merge_says_what_it_refuses(self):
        entry = plan(self.owner["cpu"])
        self.write("a", (FIRST + "x\n" + entry).encode())
        _, sentences = self.fail("wisdom", "merge", self.path("into"), self.path("a"))
        self.assertEqual(len(sentences), 1)
        self.assertEqual(self.get("into"), FIRST + entry)
        self.refuse(1, "wisdom", "merge", self.path("into"), self.path("absent"),
                    says="No such file")
        self.write("diary", b"Dear diary\n")
        self.fail("wisdom", "merge", self.path("diary"), self.path("into"),
                  says=["not written, as it is no wisdom"])
        self.assertEqual(self.get("diary"), "Dear diary\n")

    def test_a_full_disk_is_an_error(self):
        a = self.put(*(plan(self.owner["cpu"], "problem %d" % i) for i in range(50)), name="a")
        self.put(plan(self.owner["cpu"]))
        before = self.get()
        self.write("wisdom.lock", b"")
        self.refuse(1, "wisdom", "merge", self.file, a, limit=2000, says="File too large")
        self.assertEqual(self.get(), before)

    def test_forget_takes_out_what_matches(self):
        cpu, cuda = self.owner["cpu"], ("cuda X", "12", "0.0.1")
        bad = line("bad", cpu, quote("p"), quote("r"), quote("why"))
        trial = line("trial", cpu, quote("p"), quote("r"), "0 1.5 0")
        everything = [plan(cpu), plan(cuda), plan(cpu, PROBLEM.replace("240", "64")), bad,
                      trial]
        for arguments, count in ((["--all"], 5), (["--kind", "bad"], 1), (["--kind", "trial"], 1),
                                 (["--problem", "* n=240 *"], 2), (["--owner", "cuda *"], 1),
                                 (["--device", "cpu"], 4), (["--device", "nullcuda"], 0),
                                 (["--kind", "plan", "--problem", "* n=64 *"], 1)):
            self.put(*everything)
            self.assertEqual(self.succeed("wisdom", "forget", *arguments),
                             "%d entr%s forgotten\n" % (count, "y" if count == 1 else "ies"))
            self.assertEqual(len(self.get().splitlines()), 1 + 5 - count)
        self.put(*everything, name="other")
        self.succeed("wisdom", "forget", "--all", "--file", self.path("other"))
        self.assertEqual(self.get("other"), FIRST)

    def test_read_only_is_not_written(self):
        self.put(plan(self.owner["cpu"]))
        self.environment["KALLIMA_WISDOM_READ_ONLY"] = "1"
        before = self.get()
        self.refuse(1, "wisdom", "forget", "--all", says="read-only")
        self.assertEqual(self.get(), before)
        self.assertEqual(self.recipe(), RECIPE)
        self.environment["KALLIMA_WISDOM"] = ""
        self.refuse(1, "wisdom", "forget", "--all", says="kept nowhere")

    def test_usage_errors_end_with_2(self):
        for arguments in [
                [], ["nonsense"], ["list", "more"], ["list", "--kind", "any"],
                ["list", "--nonsense"], ["list", "--owner", "x", "--device", "cpu"],
                ["show", "8", "8"], ["show", "8y"], ["show", "8", "--problem", "x"],
                ["merge"], ["merge", "a"], ["forget"], ["forget", "--all", "--kind", "bad"],
                ["forget", "file"], ["check", "--json"]]:
            with self.subTest(arguments):
                self.refuse(2, "wisdom", *arguments, says="--help")

    def test_eight_programs_lose_nothing(self):
        files = [self.put(*(plan(self.owner["cpu"], "problem %d of %d" % (i, k))
                            for i in range(20)), name="from%d" % k) for k in range(8)]
        running = [subprocess.Popen([PROGRAM, "wisdom", "merge", self.file, name],
                                    env=self.environment) for name in files for _ in range(2)]
        self.assertEqual([one.wait() for one in running], [0] * 16)
        self.assertEqual(len(self.get().splitlines()), 1 + 8 * 20)


if __name__ == "__main__":
    unittest.main()
