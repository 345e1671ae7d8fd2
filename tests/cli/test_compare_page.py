# SPDX-License-Identifier: MIT
"""The page of kallima compare in a browser: no error, one of two pictures shown by the width,
nothing wider than the screen, tables that sort. KALLIMA_SHOTS names a folder for pictures."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from comparison import whole
from support import PROGRAM

BROWSER = shutil.which("chromium")

# Put at the end of the page: looks at it, sorts, and leaves what it found in an element.
PROBE = """<script>
const seen = {wide: innerWidth};
const shown = (name) => Array.from(document.querySelectorAll('.' + name))
  .filter((e) => e.getBoundingClientRect().height > 50).length;
seen.shown = [shown('wide'), shown('narrow')];
seen.overflow = document.documentElement.scrollWidth - innerWidth;
const table = document.querySelector('#g-1d table');
const column = (i) => Array.from(table.tBodies[0].rows).map((r) => r.children[i].textContent);
const heads = table.querySelectorAll('th button');
seen.before = column(1);
heads[1].click();
seen.up = column(1);
seen.ariaUp = heads[1].parentElement.getAttribute('aria-sort');
heads[1].click();
seen.down = column(1);
seen.ariaDown = heads[1].parentElement.getAttribute('aria-sort');
heads[0].click();
seen.cases = column(0);
const line = document.querySelector('svg [stroke="#0072b2"]');
seen.colour = getComputedStyle(line).stroke;
seen.ground = getComputedStyle(document.body).backgroundColor;
const out = document.createElement('pre');
out.id = 'seen';
out.textContent = JSON.stringify(seen);
document.body.append(out);
</script>"""


@unittest.skipUnless(BROWSER and shutil.which("gnuplot"), "no chromium or no gnuplot")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="kallima-page-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "results.jsonl").write_bytes(whole())
        subprocess.run([PROGRAM, "compare", "--report-only", "--out", cls.folder], check=True,
                       capture_output=True, timeout=60)
        page = (cls.folder / "report.html").read_text(encoding="utf-8")
        (cls.folder / "probe.html").write_text(page.replace("</body>", PROBE + "</body>"),
                                               encoding="utf-8")

    def browse(self, page, width, *arguments):
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--enable-logging=stderr", f"--user-data-dir={self.folder}/browser",
             f"--window-size={width},2400", *arguments, (self.folder / page).as_uri()],
            capture_output=True, timeout=120, check=True)
        console = [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line]
        self.assertEqual(console, [])
        return done.stdout.decode()

    def look(self, width, *arguments):
        found = re.search(r'<pre id="seen">(.*?)</pre>',
                          self.browse("probe.html", width, "--dump-dom", *arguments))
        self.assertIsNotNone(found, "the script of the page or the probe has failed")
        return json.loads(html.unescape(found[1]))

    def check_tables(self, seen):
        numbers = [float(text) for text in seen["before"] if text]
        self.assertEqual(len(numbers), 6)
        self.assertEqual([float(text) for text in seen["up"][:6]], sorted(numbers))
        self.assertEqual([float(text) for text in seen["down"][:6]], sorted(numbers)[::-1])
        self.assertEqual((seen["up"][6], seen["down"][6]), ("", ""))
        self.assertEqual((seen["ariaUp"], seen["ariaDown"]), ("ascending", "descending"))
        self.assertEqual(seen["cases"], [f"c2c f32 {n}" for n in (16, 32, 64, 256, 1024, 4096,
                                                                  16384)])

    def test_on_a_desk(self):
        seen = self.look(1200)
        self.assertEqual(seen["shown"], [4, 0])
        self.assertLessEqual(seen["overflow"], 0)
        self.check_tables(seen)
        self.assertEqual(seen["colour"], "rgb(0, 114, 178)")

    def test_on_a_phone(self):
        seen = self.look(500)  # headless Chromium is no narrower
        self.assertEqual(seen["shown"], [0, 4])
        self.assertLessEqual(seen["overflow"], 0)
        self.check_tables(seen)

    def test_in_the_dark(self):
        seen = self.look(1200, "--blink-settings=preferredColorScheme=0")
        self.assertEqual(seen["ground"], "rgb(20, 24, 28)")
        self.assertEqual(seen["colour"], "rgb(90, 180, 240)")

    def test_pictures(self):
        for name, width, more in [("desk", 1200, []), ("phone", 500, []),
                                  ("dark", 1200, ["--blink-settings=preferredColorScheme=0"])]:
            shot = self.folder / f"{name}.png"
            self.browse("report.html", width, f"--screenshot={shot}", *more)
            self.assertGreater(shot.stat().st_size, 20000)
            if "KALLIMA_SHOTS" in os.environ:
                shutil.copy(shot, os.environ["KALLIMA_SHOTS"])


if __name__ == "__main__":
    if not (BROWSER and shutil.which("gnuplot")):
        print("SKIPPED: chromium or gnuplot is not installed")
        sys.exit(77)
    unittest.main()
