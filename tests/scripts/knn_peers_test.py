"""scripts/knn_peers.py: peers find what we find, and the records of other problems stay.

usage: knn_peers_test.py <espalier_knn_runner> <espalier>
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

RUNNER, PROGRAM = sys.argv[1:]
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "knn_peers.py"
sys.path.insert(0, str(SCRIPT.parent))
import knn_peers  # noqa: E402
import records  # noqa: E402


def missing(*modules):
    return [m for m in modules if importlib.util.find_spec(m) is None]


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, "--runner", RUNNER, "--program", PROGRAM, *arguments], capture_output=True, text=True)


class Comparison(unittest.TestCase):
    @unittest.skipIf(missing("numpy", "sklearn"), "needs python3-numpy and python3-sklearn")
    def test_scikit_learn_and_numpy_find_what_we_find(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--seconds", "1", "--peer", "sklearn", "--peer", "numpy", "--problem", "50x400x6:5",
                       "--problem", "1x300x3:300", "--results", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            [path] = pathlib.Path(folder).glob("*/peers/knn.jsonl.xz")
            rows = records.read_cases(path)
        self.assertEqual([(row["status"], row["role"] == "peer") for row in rows],
                         [("ok", False), ("ok", True), ("ok", True)] * 2)
        self.assertGreaterEqual(len(rows[0]["samples_ns"]), 3)
        self.assertEqual(records.shortened(rows[0]), rows[0])
        self.assertRegex(rows[0]["provenance"]["source_id"], "^[0-9a-f]{64}$")
        self.assertEqual(rows[1]["variant"], "peer_sklearn")
        self.assertIn("queries=50;points=400;dims=6;k=5;", rows[0]["problem"])
        self.assertLessEqual(rows[0]["time_lo_ns"], rows[0]["time_ns"])

    @unittest.skipIf(missing("numpy"), "needs python3-numpy")
    def test_a_peer_that_is_missing_is_named_with_the_fix(self):
        if not missing("faiss"):
            self.skipTest("FAISS is here")
        done = run("--peer", "faiss", "--show")
        self.assertEqual(done.returncode, 1)
        self.assertIn("lacks faiss-cpu: make an environment with", done.stderr)

    def test_a_program_that_is_missing_is_named_with_the_fix(self):
        done = subprocess.run([sys.executable, SCRIPT, "--runner", RUNNER, "--program", "/nowhere/espalier"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/espalier is not there: scripts/peers --family knn builds it", done.stderr)

    def test_a_wrong_problem_is_refused(self):
        for problem in ("5x5:1", "5x5x5", "5x5x5:6", "0x5x5:1", "axbxc:d"):
            done = run("--problem", problem)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is no QUERIESxPOINTSxDIMS:K[:DATA[:METRIC]] with K at most POINTS", done.stderr)

    @unittest.skipIf(missing("numpy"), "needs python3-numpy")
    def test_other_neighbours_are_wrong(self):
        import numpy
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for stem, distance, index in (("ours", 1, 3), ("near", 1 + 1e-5, 3), ("far", 1.1, 3), ("other", 1, 4)):
                numpy.full(20, distance, numpy.float32).tofile(folder / f"{stem}.f32")
                numpy.full(20, index, numpy.int32).tofile(folder / f"{stem}.i32")
            self.assertEqual(knn_peers.disagreement(folder, "ours", "near", (4, 5)), "")
            self.assertIn("distances differ", knn_peers.disagreement(folder, "ours", "far", (4, 5)))
            self.assertIn("of the neighbours", knn_peers.disagreement(folder, "ours", "other", (4, 5)))


class File(unittest.TestCase):
    def test_cases_of_a_problem_share_a_line(self):
        cases = [{"variant": variant, "problem": problem, "configuration": configuration, "samples_ns": samples, "time_ns": 0,
                  "time_lo_ns": 0, "time_hi_ns": 0, "counters": counters} for variant, problem, configuration, samples, counters in
                 [("a", "n=1", "items=1", [], {}), ("a", "n=1", "items=2", [], {}), ("a", "n=1", "items=4", [1.0], {}),
                  ("b", "n=1", "items=8", [1.0], {"reads": 1}), ("b", "n=1", "items=16", [1.0], {"reads": 1, "writes": 2}),
                  ("a", "n=2", "items=1", [], {})]]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "knn.jsonl.xz"
            records.keep(path, cases)
            self.assertEqual(records.read_cases(path), cases)
            lines = [json.loads(line)["case"] for line in records.regular_files.lines(path)]
        self.assertEqual(lines[1], cases[5])
        shared = {"problem": "n=1", "time_ns": 0, "time_lo_ns": 0, "time_hi_ns": 0}
        self.assertEqual(lines[0] | {"cases": []}, shared | {"cases": []})
        of_a, of_b = lines[0]["cases"]
        self.assertEqual(of_a, {"variant": "a", "counters": {}, "cases": [
            {"configuration": "items=1", "samples_ns": []}, {"configuration": "items=2", "samples_ns": []},
            {"configuration": "items=4", "samples_ns": [1.0]}]})
        self.assertEqual(of_b, {"variant": "b", "counters": {"reads": 1}, "cases": [
            {"configuration": "items=8", "samples_ns": [1.0]},
            {"configuration": "items=16", "samples_ns": [1.0], "counters": {"writes": 2}}]})

    def test_records_of_other_problems_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "key" / "peers" / "knn.jsonl.xz"
            for name, problem in (("a", "k=1"), ("b", "k=2"), ("c", "k=1")):
                records.keep(path, [{"variant": name, "problem": problem, "configuration": "default", "samples_ns": [],
                                     "time_ns": 0, "time_lo_ns": 0, "time_hi_ns": 0}])
            self.assertEqual([case["variant"] for case in records.read_cases(path)], ["b", "c"])

    def test_the_interval_holds_the_median(self):
        for times in ([5], [1, 9, 5], list(range(1, 102))):
            middle, low, high = knn_peers.median_interval(times)
            self.assertTrue(low <= middle <= high)
        self.assertEqual((middle, low, high), (51, 41, 61))

    def test_the_description_beside_the_peers_is_the_latest(self):
        with tempfile.TemporaryDirectory() as name:
            kept = pathlib.Path(name)
            (kept / "peers").mkdir()
            for text in ("one", "another"):
                (kept / "device.json").write_text(text)
                knn_peers.keep_device(kept)
                self.assertEqual((kept / "peers/device.json").read_text(), text)


class Turns(unittest.TestCase):
    def test_begin_when_nobody_runs_any_more(self):
        spins = "import sys, time\nprint('on', flush=True)\nwhile time.process_time() < 0.3: pass\nsys.stdin.read()"

        def seconds_when_done():
            spinner = knn_peers.Candidate("spinner", [sys.executable, "-c", spins], None)
            knn_peers.rest([spinner])
            seconds = spinner.cpu_seconds()
            spinner.end()
            return seconds

        # On a machine with other work a spinning thread may not get a processor for a while, either.
        self.assertTrue(any(seconds_when_done() >= 0.3 for _ in range(5)))

    def test_begin_although_somebody_always_runs(self):
        class Busy:
            cpu_seconds = staticmethod(time.monotonic)

        begin = time.monotonic()
        with mock.patch.object(knn_peers, "LONGEST_REST", 0.1):
            knn_peers.rest([Busy()])
        self.assertGreaterEqual(time.monotonic() - begin, 0.1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
