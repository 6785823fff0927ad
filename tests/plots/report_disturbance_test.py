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

from report_pages import COLUMNS, LAST, REPOSITORY, ReportCase, case, sweep, to_csv, write_device

sys.path.insert(0, str(REPOSITORY / "plots"))
import columns  # noqa: E402

NODE = shutil.which("node")


class Columns(unittest.TestCase):
    def test_features_and_columns_are_one_to_one(self):
        names = [*columns.FIRST, *columns.LAST, "transfer_ns", "n", "problem_n", "problem_bytes", "problem_problem_bytes"]
        spelled = [columns.of_feature(name) for name in names]
        self.assertEqual([columns.feature_of(name) for name in spelled], names)
        self.assertEqual(len(set(spelled)), len(names))
        self.assertFalse(set(spelled) & {*columns.FIRST, *columns.LAST})
        self.assertEqual(columns.of_feature("bytes"), "problem_bytes")
        self.assertEqual((columns.of_feature("n"), columns.of_feature("problem_n")), ("n", "problem_n"))

    def test_a_header_of_before_is_read_as_one_of_today(self):
        before = [*COLUMNS, "bytes", "samples", "n", "dram__bytes_read.sum", "transfer_ns"]
        today = [*COLUMNS, "problem_bytes", "problem_samples", "n", "dram__bytes_read.sum", "transfer_ns", *LAST]
        self.assertEqual(columns.header(before), today[:-len(LAST)])
        self.assertEqual(columns.header(today), today)
        self.assertEqual(columns.of_problem(today), ["problem_bytes", "problem_samples", "n", "dram__bytes_read.sum"])

    def test_rows_have_features_by_their_own_names(self):
        cases = [case(features=[{"name": "bytes", "value": 7.0}, {"name": "samples", "value": 8.0}], disturbed="guests")]
        for today in (False, True):
            row = next(columns.rows(to_csv(cases, today).splitlines()))
            self.assertEqual((row["bytes"], row["samples"]), ("7.0", "8.0"))
            self.assertEqual(row.get("disturbed"), "guests" if today else None)

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
        exported = self.look_at_features()
        for family in ("histogram", "coherent_sum"):  # spelled plainly
            own = [c for c in cases if c["family"] == family]
            (self.output / f"exports/test-gpu/{family}.csv").write_text(to_csv(own), encoding="utf-8")
        self.run_page()
        self.assertEqual(self.look_at_features(), exported)

    def look_at_features(self) -> list:
        families = self.data()["test-gpu"]["families"]
        sums, histograms = families["coherent_sum"], families["histogram"]
        self.assertEqual([f["name"] for f in sums["features"]], ["receivers", "word", "samples", "device"])
        self.assertEqual({cost[0] for cost in histograms["grid"]["cost"]}, {1024})  # the traffic, no axis
        return [sums["features"], sums["grid"]["features"], histograms["grid"]["features"]]

    def test_a_column_that_stands_twice_is_refused(self):
        write_device(self.results, sweep())
        self.run_report("--no-page")
        path = self.output / "exports/test-gpu/dot.csv"
        lines = path.read_text().splitlines()
        path.write_text("\n".join(line + "," + line.split(",")[16] for line in lines) + "\n")
        self.run_page()
        self.assertIn("dot.csv: its header has columns twice: n", self.page().text)

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
