"""espalier_peers: peers are judged by the oracle like every variant, and sit in one run with ours.

usage: peers_test.py <espalier_peers>
"""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]


class Peers(unittest.TestCase):
    def test_opencv_computes_what_we_compute(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [PROGRAM, "sweep", "--variant", "peer_opencv_filter2d,cpu_scalar,cpu_openmp_rows", "--quick", "--quiet",
                 "-p", "width=41", "-p", "height=7", "-p", "channels=1,3,4", "-p", "border=zero,replicate,mirror",
                 "-p", "coefficients=narrow,int16", "--noise", "50%",
                 "--output", f"{folder}/journal", "--results", f"{folder}/results"],
                check=True)
            [path] = pathlib.Path(folder, "results").glob("*/convolution_2d.csv")
            rows = list(csv.DictReader(open(path)))
        peers = [row for row in rows if row["role"] == "peer"]
        self.assertEqual(len(peers), 3 * 3 * 2)
        for row in peers:
            expected = "unsupported" if "coefficients=int16" in row["problem"] else "ok"
            self.assertEqual(row["status"], expected, row["problem"] + ": " + row["reason"])
        self.assertEqual({row["status"] for row in rows if row["variant"] == "cpu_scalar"}, {"ok"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
