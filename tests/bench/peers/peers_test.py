"""espalier_peers: peers are verified by the oracle like every variant, and sit in one run with ours.

usage: peers_test.py <espalier_peers> <espalier_peers.so>
"""

import csv
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY = sys.argv[1:]
ROOT = pathlib.Path(__file__).resolve().parents[3]
PEERS, LAUNCHER = ROOT / "scripts" / "peers", ROOT / "harness" / "bench" / "peers" / "python" / "launcher.py"
WITH_PYTHON = [sys.executable, LAUNCHER, LIBRARY]


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def sweep(command, family, variants, *axes):
    """The rows of a quick sweep."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word for axis in axes for word in ("-p", axis)]
        done = subprocess.run([*command, "sweep", "--family", family, "--variant", variants, *words, "--quick", "--quiet",
                               "--noise", "50%", "--output", f"{folder}/journal", "--results", f"{folder}/results"],
                              capture_output=True, text=True)
        if not list(pathlib.Path(folder, "results").glob("*/device.json")):
            raise AssertionError(done.stderr)
        subprocess.run([*command, "export", "--results", f"{folder}/results", "-o", f"{folder}/exports"], check=True,
                       capture_output=True)
        found = list(pathlib.Path(folder, "exports").glob(f"*/{family}.csv"))
        with open(found[0], newline="") as file:
            return list(csv.DictReader(file))


def statuses(rows, variant):
    return [row["status"] for row in rows if row["variant"] == variant]


class Peers(unittest.TestCase):
    def test_opencv_computes_what_we_compute(self):
        listed = subprocess.run([PROGRAM, "list", "--family", "convolution_2d"], capture_output=True, text=True).stdout
        if "peer_opencv_filter2d" not in listed:
            self.skipTest("needs libopencv-imgproc-dev")
        rows = sweep([PROGRAM], "convolution_2d", "peer_opencv_filter2d,cpu_scalar,cpu_openmp_rows", "width=41", "height=7",
                     "channels=1,3,4", "border=zero,replicate,mirror", "coefficients=narrow,int16")
        peers = [row for row in rows if row["role"] == "peer"]
        self.assertEqual(len(peers), 3 * 3 * 2)
        for row in peers:
            expected = "unsupported" if "coefficients=int16" in row["problem"] else "ok"
            self.assertEqual(row["status"], expected, row["problem"] + ": " + row["reason"])
        self.assertEqual(set(statuses(rows, "cpu_scalar")), {"ok"})

    def test_a_folder_of_programs_says_what_it_was_built_without(self):
        listed = subprocess.run([PROGRAM, "list", "--family", "smallest_k"], capture_output=True, text=True).stdout
        if any(line.split()[1:3] == ["peer", "GPU"] for line in listed.splitlines()):
            self.skipTest("has peers on GPUs, and would measure where there is one")
        done = subprocess.run([PEERS, "--device", "0", "--bin", pathlib.Path(PROGRAM).parent, "--family", "smallest_k"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("CUB is left out", done.stdout)
        self.assertIn("has no peer of smallest_k for 0: build the preset cuda", done.stderr)

    def test_without_python_its_peers_say_what_they_need(self):
        [row] = sweep([PROGRAM], "dot", "peer_numpy_dot", "elements=10")
        self.assertEqual((row["status"], row["reason"]), ("unsupported", "needs Python: scripts/peers --python starts it"))


@unittest.skipUnless(has("numpy"), "needs python3-numpy")
class PeersInPython(unittest.TestCase):
    def agree(self, family, variants, *axes, declined=()):
        """All of them are right wherever they do not decline, with one of these words."""
        rows = sweep(WITH_PYTHON, family, variants, *axes)
        for name in variants.split(","):
            mine = [row for row in rows if row["variant"] == name]
            self.assertIn("ok", [row["status"] for row in mine], name)
            for row in mine:
                if row["status"] != "ok":
                    self.assertEqual(row["status"], "unsupported", row["reason"])
                    self.assertTrue(any(word in row["reason"] for word in declined), row["reason"])

    def test_coherent_sum(self):
        self.agree("coherent_sum", "peer_numpy_gather,peer_numpy_slices", "receivers=7", "samples=60", "sources=5",
                   "span=0,20", "output=sums,maximum")

    @unittest.skipUnless(has("beampower"), "needs beampower")
    def test_beampower(self):
        self.agree("coherent_sum", "peer_beampower", "receivers=7", "samples=60", "sources=5", "span=0,20",
                   "output=sums,maximum")

    def test_dot(self):
        self.agree("dot", "peer_numpy_dot", "elements=0,1,1000")

    def test_histogram(self):
        self.agree("histogram", "peer_numpy_bincount", "bytes=0,1,5000")

    def test_smallest_k(self):
        self.agree("smallest_k", "peer_numpy_argpartition", "rows=3", "columns=40", "k=1,5,40,41", "layout=row_major",
                   "data=uniform,few_values", declined=["it needs k columns"])

    def test_convolution_2d(self):
        self.agree("convolution_2d", "peer_numpy_shifts", "width=9", "height=6", "channels=1,3",
                   "border=zero,replicate,mirror", "coefficients=narrow,int16", declined=["16 bits"])

    @unittest.skipUnless(has("scipy"), "needs python3-scipy")
    def test_scipy(self):
        self.agree("convolution_2d", "peer_scipy_correlate", "width=9", "height=6", "channels=1,3",
                   "border=zero,replicate,mirror", "coefficients=narrow,float32")
        self.agree("distance", "peer_scipy_cdist", "queries=5", "points=8", "dims=1,30", "metric=euclidean,manhattan,cosine",
                   "missing=none", declined=["euclidean and manhattan alone"])

    @unittest.skipUnless(has("sklearn"), "needs python3-sklearn")
    def test_scikit_learn(self):
        self.agree("distance", "peer_sklearn_pairwise", "queries=5", "points=8", "dims=1,30", "metric=manhattan",
                   "missing=none")

    @unittest.skipUnless(has("cv2"), "needs python3-opencv")
    def test_opencv(self):
        self.agree("histogram", "peer_opencv_calchist", "bytes=0,1,5000", declined=["it refuses no values"])

    def test_what_python_raises_is_the_cases_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("python", "dot"):
                (root / name).mkdir()
            for file in LAUNCHER.parent.glob("*.py"):
                (root / "python" / file.name).write_text(file.read_text())
            (root / "dot" / "peer_numpy_dot.py").write_text(
                'MODULES = []\nARRAYS = 3\ndef prepare(problem, arrays):\n    raise ValueError("no such luck")\n')
            [row] = sweep([sys.executable, root / "python" / "launcher.py", LIBRARY], "dot", "peer_numpy_dot", "elements=10")
        self.assertEqual(row["status"], "crashed")
        self.assertIn("dot/peer_numpy_dot: ValueError: no such luck", row["reason"])

    def test_versions_are_those_of_this_python(self):
        import numpy
        said = subprocess.run([sys.executable, LAUNCHER, "--versions", "dot"], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(said.stdout)["numpy"], numpy.__version__)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
