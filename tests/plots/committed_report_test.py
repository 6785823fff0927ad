#!/usr/bin/python3
"""The report of the evidence: its size, its figures, and how a browser draws it.

usage: committed_report_test.py FOLDER_OF_EXPORTS
"""

import html
import json
import math
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from report_pages import CHROMIUM, HEADLESS, REPOSITORY, ReportCase

# Draws every family, then looks for texts of a picture that touch, for texts cut off and for a page wider than the screen.
LOOK = r"""
const touching = (root) => {
  const found = [];
  const frame = root.getBoundingClientRect();
  const boxes = [...root.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  boxes.forEach(([text, a], i) => {
    if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1) found.push(`${text} is cut off`);
    for (const [other, b] of boxes.slice(i + 1))
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top + 3 < b.bottom - 1 && b.top + 3 < a.bottom - 1) found.push(`${text} touches ${other}`);
  });
  return found;
};
const wait = () => new Promise((done) => setTimeout(done, 50));
const looked = async () => {
  const seen = { pictures: 0, families: 0, problems: [] };
  for (const section of [...document.querySelectorAll("section.family")]) {
    location.hash = section.id;
    await wait();
    ++seen.families;
    const texts = section.querySelectorAll("[data-view=lookup] .card").length;
    if (!section.hidden && texts !== 2) seen.problems.push(`${section.id}: no answer`);
    if (section.querySelector(".tree") && section.querySelectorAll(".tree .taken > .leaf").length !== 1) seen.problems.push(`${section.id}: no leaf is marked`);
    for (const root of section.querySelectorAll("svg[role=img]")) {
      ++seen.pictures;
      seen.problems.push(...touching(root).map((text) => `${section.id}: ${text}`));
    }
    if (document.documentElement.scrollWidth > innerWidth) seen.problems.push(`${section.id}: ${document.documentElement.scrollWidth} pixels wide`);
    if (document.querySelectorAll("section.family:not([hidden])").length !== 1) seen.problems.push("not one family is shown");
  }
  parent.postMessage({ width: innerWidth, ...seen }, "*");
};
looked().catch((error) => parent.postMessage({ width: innerWidth, problems: [String(error)] }, "*"));
"""
FRAME = """<!doctype html><body><script>
addEventListener("message", (event) => { document.body.dataset.seen = JSON.stringify(event.data); });
</script><iframe src="looked.html" width="{}" height="900"></iframe>"""


EVIDENCE = sorted(json.loads((REPOSITORY / "results/evidence.json").read_text())["devices"])
EXPORTS = Path()


class CommittedResults(ReportCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.results, cls.output = REPOSITORY / "results", Path(temporary.name) / "report"
        cls.write(cls.output)

    @classmethod
    def write(cls, output: Path, *options: str) -> None:
        devices = [word for key in EVIDENCE for word in ("--device", key)]
        subprocess.run(["/usr/bin/python3", str(REPOSITORY / "plots/report.py"), "--results", str(cls.results), "--exports",
                        str(EXPORTS), "--output", str(output), *(options or devices)], check=True, capture_output=True, timeout=300)

    def test_they_take_less_than_a_hundred_bytes_a_case_and_a_device_less_than_five_megabytes(self):
        cases = 0
        for path in EXPORTS.glob("*/*.csv"):
            with open(path, encoding="utf-8") as file:
                cases += sum(1 for _ in file) - 1
        self.assertLess((self.output / "index.html").stat().st_size, 100 * cases)
        self.page()
        one = self.output / "one"
        self.write(one, "--device", "nvidia-h200")  # which has the most cases
        self.assertLess((one / "index.html").stat().st_size, 5e6)

    def test_unseen_regret_is_what_judge_found(self):
        devices = self.data()
        checked = 0
        for key, device in devices.items():
            selector = json.loads((self.results / key / "selector.json").read_text())["families"]
            for name, family in device["families"].items():
                regrets = [value for value in family.get("unseen", {}).get("regret", []) if value]
                if not regrets or "unseen" not in selector.get(name, {}):
                    continue
                mean = math.exp(sum(map(math.log, regrets)) / len(regrets))
                self.assertAlmostEqual(mean, selector[name]["unseen"]["regret_geomean"], delta=1e-4, msg=f"{key} {name}")
                checked += 1
        self.assertGreater(checked, 0)

    def look(self, width: int) -> dict:
        (self.output / "frame.html").write_text(FRAME.replace("{}", str(width)))
        done = subprocess.run([CHROMIUM, *HEADLESS, "--window-size=1700,1000", "--virtual-time-budget=60000",
                               (self.output / "frame.html").as_uri()], capture_output=True, text=True, timeout=300)
        found = re.search(r'data-seen="(.*?)"', done.stdout, re.S)
        self.assertIsNotNone(found, done.stderr[-2000:])
        return json.loads(html.unescape(found[1]))

    @unittest.skipUnless(CHROMIUM, "needs chromium")
    def test_a_browser_draws_every_family_without_overlaps(self):
        started = subprocess.run([CHROMIUM, *HEADLESS, "data:text/html,here"], capture_output=True, text=True, timeout=120)
        if "here" not in started.stdout:
            self.skipTest(f"chromium does not start on this machine: {started.stderr[-300:]}")
        # The pages of a GPU and of a CPU: those of their like have the same pictures.
        few = self.output / "few"
        self.write(few, "--device", "nvidia-h200", "--device", "cpu-zen5-avx512vnni-2t")
        looked = self.output / "looked.html"
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", (few / "index.html").read_text(encoding="utf-8"))
        looked.write_text(text.replace("</body>", f"<script>{LOOK}</script></body>"), encoding="utf-8")
        for width in (1280, 390):
            seen = self.look(width)
            self.assertEqual(seen["problems"], [])
            self.assertEqual(seen["width"], width)


if __name__ == "__main__":
    EXPORTS = Path(sys.argv.pop(1))
    unittest.main()
