"""scripts/knn_peers.py: peers find what we find, and peers.csv keeps what others wrote.

usage: knn_peers_test.py <espalier_knn_runner>
"""

import csv
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = sys.argv[1]
SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "knn_peers.py"
sys.path.insert(0, str(SCRIPT.parent))
import knn_peers  # noqa: E402


def missing(*modules):
    return [m for m in modules if importlib.util.find_spec(m) is None]


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, "--runner", RUNNER, *arguments], capture_output=True, text=True)


class Comparison(unittest.TestCase):
    @unittest.skipIf(missing("numpy", "sklearn"), "needs python3-numpy and python3-sklearn")
    def test_scikit_learn_and_numpy_find_what_we_find(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--seconds", "1", "--peer", "sklearn", "--peer", "numpy", "--problem", "50x400x6:5",
                       "--problem", "1x300x3:300", "--results", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            [path] = pathlib.Path(folder).glob("*/peers.csv")
            with open(path, newline="") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([(row["status"], row["role"] == "peer") for row in rows],
                         [("ok", False), ("ok", True), ("ok", True)] * 2)
        self.assertEqual(list(rows[0])[:16], knn_peers.COLUMNS)
        self.assertEqual(rows[1]["variant"], "peer_sklearn")
        self.assertIn("queries=50;points=400;dims=6;k=5;", rows[0]["problem"])
        self.assertEqual(min(float(row["regret"]) for row in rows[:3]), 1)
        self.assertLessEqual(float(rows[0]["time_lo_ns"]), float(rows[0]["time_ns"]))

    @unittest.skipIf(missing("numpy"), "needs python3-numpy")
    def test_a_peer_that_is_missing_is_named_with_the_fix(self):
        if not missing("faiss"):
            self.skipTest("FAISS is here")
        done = run("--peer", "faiss", "--show")
        self.assertEqual(done.returncode, 1)
        self.assertIn("lacks faiss-cpu: make an environment with", done.stderr)

    def test_a_wrong_problem_is_refused(self):
        for problem in ("5x5:1", "5x5x5", "5x5x5:6", "0x5x5:1", "axbxc:d"):
            done = run("--problem", problem)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is no QUERIESxPOINTSxDIMS:K with K at most POINTS", done.stderr)

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
    def test_rows_of_other_families_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "key" / "peers.csv"
            path.parent.mkdir()
            head = ",".join(knn_peers.COLUMNS) + ",width\n"
            path.write_text(head + "convolution_2d,a" + "," * 14 + ",640\n" + "knn,old" + "," * 15 + "\n")
            knn_peers.keep(path, [{"family": "knn", "variant": "new", "queries": 7}],
                           knn_peers.COLUMNS + knn_peers.FEATURES)
            with open(path, newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([(row["variant"], row["width"], row["queries"]) for row in rows],
                             [("a", "640", ""), ("new", "", "7")])

    def test_rows_of_other_problems_stay_if_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "peers.csv"
            for name, problem in (("a", "k=1"), ("b", "k=2"), ("c", "k=1")):
                knn_peers.keep(path, [{"family": "knn", "variant": name, "problem": problem}], knn_peers.COLUMNS,
                               replaced=("family", "problem"))
            with open(path, newline="") as file:
                self.assertEqual([row["variant"] for row in csv.DictReader(file)], ["b", "c"])

    def test_the_interval_holds_the_median(self):
        for times in ([5], [1, 9, 5], list(range(1, 102))):
            middle, low, high = knn_peers.median_interval(times)
            self.assertTrue(low <= middle <= high)
        self.assertEqual((middle, low, high), (51, 41, 61))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
