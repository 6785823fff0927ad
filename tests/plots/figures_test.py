#!/usr/bin/python3
"""Figures for papers: a column wide, the legend inside, the same bytes for the same data, captions with provenance.

figures_test.py ESPALIER
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import report_pages

sys.path.insert(0, str(report_pages.REPOSITORY / "plots"))

from figures import style  # noqa: E402

ESPALIER = sys.argv.pop(1)
POINTS_PER_CM = 72 / 2.54
KEY = "test-gpu"
MOST_SECONDS = 120  # of a small device; it takes about five


def cases() -> list[dict]:
    """Three variants over six sizes: each of the first two wins half of them."""
    found = []
    for place, size in enumerate((1024, 4096, 16384, 65536, 262144, 1048576)):
        for variant, time_ns in (("global_atomics", 1000.0 + size), ("shared_atomics", 60000.0 + size / 2),
                                 ("lane_replicas", 90000.0 + size)):
            found.append(report_pages.case(variant=variant, problem=f"bytes={size};distribution=uniform", time=time_ns,
                                           samples=9, features=[{"name": "bytes", "value": float(size)}]))
    return found


def draw(results: Path, output: Path, *options: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([ESPALIER, "figures", "--results", results, "--output", output, *options], text=True,
                          capture_output=True, env=os.environ | environment)


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.results = cls.folder / "results"
        report_pages.write_device(cls.results, cases(), KEY)
        began = time.monotonic()
        cls.done = draw(cls.results, cls.folder / "first")
        cls.seconds = time.monotonic() - began
        cls.svg = cls.folder / "first/times-histogram.svg"

    def test_are_drawn_in_time(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertIn("winners-histogram.svg", self.done.stdout)
        self.assertLess(self.seconds, MOST_SECONDS)

    def test_are_one_column_wide(self):
        for path in (self.folder / "first").glob("*.svg"):
            width = float(ElementTree.parse(path).getroot().get("width").removesuffix("pt"))
            self.assertAlmostEqual(width, style.WIDTH_CM * POINTS_PER_CM, places=1, msg=path.name)

    def test_have_text_of_a_readable_size(self):
        sizes = [float(size) for size in re.findall(r"font: (?:\w+ )?([\d.]+)px", self.svg.read_text())]
        self.assertTrue(sizes)
        self.assertGreaterEqual(min(sizes), 7)
        self.assertIn(">global_atomics<", self.svg.read_text())

    def test_have_no_date(self):
        self.assertNotIn("<dc:date>", self.svg.read_text())

    def test_are_the_same_for_the_same_results(self):
        draw(self.results, self.folder / "second")
        names = {path.name for path in (self.folder / "first").glob("*.svg")}
        self.assertTrue(names)
        for name in names:
            self.assertEqual((self.folder / "first" / name).read_bytes(), (self.folder / "second" / name).read_bytes(), name)

    def test_have_captions_with_provenance(self):
        text = self.svg.with_suffix(".txt").read_text()
        for part in (KEY, "rows of results: 18 (histogram)", "measured: 2026-01-01", "program: 0.1.0 test"):
            self.assertIn(part, text)

    def test_that_are_skipped_say_why(self):
        self.assertIn("counters-histogram is skipped: fewer than 3 problems", self.done.stderr)
        self.assertIn("tree-distance is skipped", self.done.stderr)
        self.assertFalse((self.folder / "first/counters-histogram.svg").exists())

    def test_of_an_unknown_device_are_refused(self):
        done = draw(self.results, self.folder / "none", "--device", "no-such-gpu")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(KEY, done.stderr)

    def test_without_matplotlib_name_the_package(self):
        python = self.folder / "python"
        python.write_text('#!/bin/sh\nexec /usr/bin/python3 -S "$@"\n')  # -S: without Debian's packages
        python.chmod(0o755)
        done = draw(self.results, self.folder / "none", ESPALIER_PYTHON=str(python))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("apt-get install python3-matplotlib", done.stderr)


class Legends(unittest.TestCase):
    def test_lie_inside_and_cover_no_data(self):
        for scale in ("linear", "log"):
            figure, (axes,) = style.new_figure(5)
            for place in range(7):
                axes.plot([1, 10, 100], [1 + place, 20, 900], label=f"a variant of some length {place}",
                          **style.series(place))
            axes.set_yscale(scale)
            style.legend_inside(axes)
            style.file_of(figure, "svg")
            legend = axes.get_legend().get_window_extent()
            frame = axes.get_window_extent()
            self.assertTrue(frame.x0 <= legend.x0 and legend.x1 <= frame.x1, scale)
            self.assertTrue(frame.y0 <= legend.y0 and legend.y1 <= frame.y1, scale)
            self.assertLess(axes.transData.transform((100, 900))[1], legend.y0, scale)

    def test_tell_series_apart_without_colour(self):
        looks = [style.series(place) for place in range(8)]
        for name in ("color", "marker", "linestyle"):
            self.assertEqual(len({str(look[name]) for look in looks}), 8, name)


if __name__ == "__main__":
    unittest.main()
