#!/usr/bin/python3
"""What the report says of disturbed cases and of times without an interval, and the columns that it knows them by.

usage: report_disturbance_test.py PATH_OF_ESPALIER
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from report_pages import REPOSITORY, ReportCase, case, sweep, write_device

sys.path.insert(0, str(REPOSITORY / "plots"))
import columns  # noqa: E402

NODE = shutil.which("node")


class Columns(unittest.TestCase):
    def test_features_of_columns(self):
        names = [*columns.FIRST, "problem_bytes", "problem_samples", "n", "problem_n", "dram__bytes_read.sum", "transfer_ns", *columns.LAST]
        features = [columns.feature_of(name) for name in columns.of_problem(names)]
        self.assertEqual(features, ["bytes", "samples", "n", "problem_n", "dram__bytes_read.sum"])
        self.assertEqual(columns.feature_of("problem_problem_bytes"), "problem_bytes")

    def test_a_disturbed_row_comes_last(self):
        rows = [{"time_ns": "1", "disturbed": "programs"}, {"time_ns": "3", "disturbed": ""}, {"time_ns": "2"}]
        self.assertEqual([row["time_ns"] for row in sorted(rows, key=columns.speed)], ["2", "3", "1"])


class Report(ReportCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.make_folders(temporary)

    @staticmethod
    def disturbed_sweep() -> list[dict]:
        """One problem whose fastest is disturbed, one all of whose cases are, and a quiet one."""
        cases = []
        for n, causes in ((16, ("programs", "", "")), (64, ("programs",) * 3), (256, ("", "", ""))):
            for (variant, time), cause in zip((("fast", 1000.0), ("middle", 2000.0), ("slow", 2010.0)), causes):
                cases.append(case("dot", variant, f"n={n}", time + n, features=[{"name": "n", "value": float(n)}],
                                  disturbed=cause, samples=9))
        return cases

    def test_disturbed_problems_are_marked_and_win_nothing(self):
        write_device(self.results, self.disturbed_sweep())
        self.run_report()
        text = self.page().text
        self.assertIn("2 of 3 problems were disturbed: other programs used the processors; their values are marked ~", text)
        rows = dict(re.findall(r"<th>(n=\d+)<td>(.*?)\n", self.text()))
        self.assertIn("middle<td>2.02 µs", rows["n=16"])  # the fastest of those that were not
        self.assertNotIn("fast", rows["n=16"])
        self.assertIn("~ fast<td>~ 1.06 µs", rows["n=64"])
        self.assertIn("disturbed, wins nothing: other programs used the processors", rows["n=64"])
        self.assertTrue(rows["n=256"].startswith("fast<td>1.26 µs"), rows["n=256"])
        self.assertRegex(self.text(), r'fast</th><td class="muted">documented</td><td class="n best">1</td><td class="n">1</td>')
        grid = self.data()["test-gpu"]["families"]["dot"]["grid"]
        self.assertEqual([len(found) if found else 0 for found in grid["disturbed"]], [1, 3, 0])

    def test_every_cause_has_its_words(self):
        for cause, words in (("programs", "other programs used"), ("guests", "other guests of the host"),
                             ("slow_processor", "far below its fastest clock"), ("slow_gpu", "slowed the GPU down")):
            write_device(self.results, [case(disturbed=cause)])
            self.run_report()
            self.assertIn("1 of 1 problem was disturbed: ", self.page().text)
            self.assertIn(words, self.page().text)

    def test_what_is_no_interval_is_not_shown_as_one(self):
        few = case("dot", "few", "n=16", 1000.0, features=[{"name": "n", "value": 16.0}], samples=5)
        wild = case("dot", "wild", "n=64", 1000.0, features=[{"name": "n", "value": 64.0}], samples=30, spread=2355.0)
        good = case("dot", "good", "n=256", 1000.0, features=[{"name": "n", "value": 256.0}], samples=6)
        write_device(self.results, [few, wild, good])
        self.run_report()
        rows = dict(re.findall(r"<th>(n=\d+)<td>(.*?)\n", self.text()))
        self.assertIn("<td>980 ns – 1.02 µs, too few samples<td>", rows["n=16"])
        self.assertIn("<td>980 ns – 2.35 ms, no interval<td>", rows["n=64"])
        self.assertIn("<td>980 ns – 1.02 µs<td>", rows["n=256"])

    def test_features_whose_names_are_columns_are_told_apart(self):
        cases = sweep()
        for size, name in ((100.0, "block_sums"), (5e4, "subsums")):
            features = [{"name": "samples", "value": size}, {"name": "device", "value": 3.0}]
            cases.append(case("coherent_sum", name, f"receivers=3;word=w{size:g}", 1000.0, features=features))
        write_device(self.results, cases)
        self.run_report()
        families = self.data()["test-gpu"]["families"]
        sums, histograms = families["coherent_sum"], families["histogram"]
        self.assertEqual([f["name"] for f in sums["features"]], ["receivers", "word", "samples", "device"])
        self.assertEqual({cost[0] for cost in histograms["grid"]["cost"]}, {1024})  # the traffic, no axis
        self.assertEqual(set(histograms["grid"]["features"][0]), {float(2**e) for e in range(10, 22, 2)})

    @unittest.skipUnless(NODE, "needs node")
    def test_the_form_does_not_call_disturbance_a_close_call(self):
        write_device(self.results, self.disturbed_sweep())
        self.run_report()
        scripts = "".join((REPOSITORY / f"plots/page/{name}.js").read_text() for name in ("dom", "model", "lookup"))
        done = subprocess.run([NODE, "-"], input=scripts + """
            const family = readFamily(DATA, "dot");
            const ask = (n) => answer(family, new Map([["n", n]]));
            console.log(JSON.stringify([[16, 64, 256].map((n) => level(ask(n))), LEVELS, ask(16).exact.disturbed.length]));
            """.replace("DATA", json.dumps(self.data()["test-gpu"]["families"]["dot"])), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        found, levels, disturbed = json.loads(done.stdout)
        self.assertEqual(found, ["even", "disturbed", "sure"])
        self.assertNotIn("close call", levels["disturbed"])
        self.assertEqual(disturbed, 1)  # marked in its table


if __name__ == "__main__":
    ReportCase.program = sys.argv.pop(1)
    unittest.main()
