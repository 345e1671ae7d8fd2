# SPDX-License-Identifier: MIT
"""kallima plan --explain from outside: what it says of plans that were tuned and that were
not, and that its numbers are those of wisdom."""
import json
import os
import re
import unittest

from support import Case

DEVICES = ("cpu", "null", "nullcuda", "nullopencl", "nullvulkan", "nullopengl", "nullopengles", "nulld3d11")


class Explain(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("wisdom")
        self.environment = dict(os.environ, KALLIMA_WISDOM=self.file, KALLIMA_DEVICE="cpu",
                                OMP_NUM_THREADS="1")
        self.environment.pop("KALLIMA_WISDOM_READ_ONLY", None)

    def run_program(self, *arguments, **more):
        return super().run_program(*arguments, **{"env": self.environment, **more})

    def tune(self, *arguments):
        self.succeed("tune", "--budget", "0.3", *arguments)

    def entries(self, kind):
        return json.loads(self.succeed("wisdom", "list", "--json", "--kind", kind))

    def explain(self, *arguments):
        """The object and, checked against it, the text."""
        said = json.loads(self.succeed("plan", "--explain", "--json", *arguments))
        text = self.succeed("plan", "--explain", "--all", *arguments)
        self.assertTrue(text.startswith(said["description"]))
        explanation = said["explanation"]
        rows = re.findall(r"^(.) +([\d.]+|-) +([\d.]+|-) +(~?[\d.]+|-)  (\S.*?)  +(\S.*)$",
                          text, re.MULTILINE)
        self.assertEqual([row[5] for row in rows],
                         [c["recipe"] for c in explanation["candidates"]])
        for row, c in zip(rows, explanation["candidates"]):
            self.assertEqual(row[0] == "*", c["chosen"])
            self.assertEqual(row[4], c["difference"] or "the default")
            for shown, time in ((row[1], c["predicted_ns"]), (row[2], c["measured_ns"])):
                if time is None:
                    self.assertEqual(shown, "-")
                else:
                    us = time / 1e3  # shown with three digits, none behind the third place
                    self.assertAlmostEqual(float(shown), us, delta=max(5e-3 * us, 6e-4))
        self.assertIn("\nwhy      %s\n" % explanation["why"], text)
        [chosen] = [c for c in explanation["candidates"] if c["chosen"]]
        self.assertEqual(chosen["recipe"], said["recipe"])
        self.assertEqual(sum(not c["difference"] for c in explanation["candidates"]), 1)
        return explanation, text, chosen


class Untuned(Explain):
    def test_it_is_said_to_be_an_estimate(self):
        for device in DEVICES:
            explanation, text, chosen = self.explain("240", "--device", device)
            self.assertEqual(explanation["origin"], "unknown")
            self.assertIn("the planner's rules: wisdom has no plan of this problem", text)
            self.assertIn("guessed from what is known of the device", text)
            self.assertIn("nothing was measured: it is what the planner's rules choose; ",
                          explanation["why"])
            self.assertIn("the model's first choice", explanation["why"])
            self.assertEqual((chosen["difference"], chosen["measured_ns"]), ("", None))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_all_that_describes_a_problem_counts(self):
        for arguments in (["8x6", "--kind", "r2c", "--batch", "3"], ["1"], ["101"],
                          ["64", "--precision", "f64", "--inverse", "--in-place"],
                          ["4099", "--device", "nullcuda"],
                          ["65536", "--kind", "c2r", "--device", "nullopencl"]):
            self.explain(*arguments)

    def test_planning_and_recipes_are_said(self):
        self.assertEqual(self.explain("240", "--planning", "fixed")[0]["origin"], "fixed")
        explanation, _, chosen = self.explain("240", "--recipe", "local(3.5.2.2.2.2)")
        self.assertEqual(explanation["origin"], "recipe")
        self.assertEqual(chosen["recipe"], "local(3.5.2.2.2.2)")
        self.assertIn("it was asked for", explanation["why"])
        self.environment["KALLIMA_WISDOM"] = "off"
        self.assertEqual(self.explain("240")[0]["origin"], "off")

    def test_few_rows_are_shown(self):
        whole = self.succeed("plan", "4096", "--explain", "--all")
        text = self.succeed("plan", "4096", "--explain")
        [more] = re.findall(r"^   and (\d+) more, which --all shows$", text, re.MULTILINE)
        self.assertEqual(len(whole.splitlines()) - len(text.splitlines()), int(more) - 1)
        self.assertLessEqual(text.count("~"), 21)
        self.assertEqual(len(re.findall(r"^\*", text, re.MULTILINE)), 1)

    def test_usage_errors_end_with_2(self):
        self.refuse(2, "plan", "8", "--all", says="--all goes with --explain")
        self.refuse(2, "plan", "8", "--explain", "--source", "cuda", says="exclude")
        self.refuse(2, "plan", "8", "--explain=1", says="takes no value")


class Tuned(Explain):
    def test_numbers_are_those_of_wisdom(self):
        self.tune("240")
        [plan] = self.entries("plan")
        trials = {entry["value"]: entry for entry in self.entries("trial")}
        self.assertLessEqual(len(trials), 16)
        self.assertEqual(trials[plan["value"]]["time_ns"], plan["time_ns"])
        explanation, text, chosen = self.explain("240")
        self.assertEqual((explanation["origin"], explanation["effort"]),
                         ("wisdom", "measure"))
        self.assertEqual((explanation["time_ns"], explanation["spread"]),
                         (plan["time_ns"], plan["spread"]))
        self.assertIn("origin   wisdom of %s, %s, library" % (plan["device"],
                                                               plan["driver"]), text)
        self.assertEqual((chosen["recipe"], chosen["measured_ns"]),
                         (plan["value"], plan["time_ns"]))
        measured = {c["recipe"]: c for c in explanation["candidates"] if c["measured_ns"]}
        self.assertEqual(set(measured), set(trials))
        for recipe, c in measured.items():
            self.assertEqual((c["measured_ns"], c["spread"], c["foreseen_ns"]),
                             (trials[recipe]["time_ns"], trials[recipe]["spread"],
                              trials[recipe]["predicted_ns"]))
        times = [c["measured_ns"] for c in explanation["candidates"] if c["measured_ns"]]
        self.assertEqual(times, sorted(times))
        self.assertIsNone(explanation["candidates"][-1]["measured_ns"])
        self.assertTrue([c for c in measured.values() if not c["difference"]])
        self.assertIn("%d whose times are kept" % len(trials), explanation["why"])
        self.assertIn("model    fitted to ", text)
        # What is asked for, and what the rules say, are compared with it.
        explanation, _, _ = self.explain("240", "--planning", "fixed")
        self.assertIn("it is what the planner's rules choose", explanation["why"])

    def test_a_problem_beside_it_is_an_estimate(self):
        self.tune("240")
        for arguments in (["250"], ["240", "--batch", "2"], ["240", "--inverse"]):
            explanation, _, _ = self.explain(*arguments)
            self.assertEqual(explanation["origin"], "unknown")
            self.assertIn("nothing was measured", explanation["why"])
            self.assertEqual(explanation["not_used"], [])

    def test_wisdom_of_another_driver_is_not_used(self):
        self.tune("240")
        self.environment["OMP_NUM_THREADS"] = "2"
        explanation, text, _ = self.explain("240")
        self.assertEqual(explanation["origin"], "unknown")
        [why] = explanation["not_used"]
        self.assertRegex(why, r'another driver: ".*1 thread" instead of ".*2 threads"')
        self.assertIn("wisdom not used: " + why, text)
        self.assertFalse([c for c in explanation["candidates"] if c["measured_ns"]])

    def test_a_plan_that_is_wrong_is_said_to_be(self):
        done = self.run_program("tune", "--budget", "0.3", "--device", "null", "64")
        self.assertEqual(done.returncode, 1)
        explanation, text, chosen = self.explain("64", "--device", "null")
        self.assertEqual((explanation["origin"], chosen["difference"]), ("unknown", ""))
        self.assertIn("no finite number", chosen["fault"])
        self.assertIn("it computed wrongly here", explanation["why"])
        self.assertIn("%d wrong" % len(self.entries("bad")), text)

    def test_what_is_bad_is_shown_with_its_reason(self):
        self.tune("240")
        [plan] = self.entries("plan")
        with open(self.file, "a", encoding="ascii") as file:
            file.write('bad "%s" "%s" "%s" "%s" "%s" "an error of 1"\n' % tuple(
                plan[name] for name in ("device", "driver", "version", "key", "value")))
        explanation, text, _ = self.explain("240")
        self.assertEqual(explanation["origin"], "bad")
        self.assertIn("what wisdom has of this problem computed wrongly", text)
        self.assertIn(" wrong: an error of 1\n", text)
        last = explanation["candidates"][-1]
        self.assertEqual((last["recipe"], last["fault"]), (plan["value"], "an error of 1"))


if __name__ == "__main__":
    unittest.main()
