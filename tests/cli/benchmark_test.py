"""espalier_benchmark as users of Google Benchmark use it.

usage: benchmark_test.py <espalier_benchmark>
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")
DOT = ("--family", "dot", "-p", "elements=1000,2000")
SHORT = "--benchmark_min_time=0.001"


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300)


class Benchmark(unittest.TestCase):
    def names(self, *arguments):
        done = run("--benchmark_list_tests", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_each_case_is_a_benchmark(self):
        names = self.names(*DOT)
        self.assertIn("dot/cpu_scalar/default/elements=1000/manual_time", names)
        self.assertIn("dot/cpu_scalar/default/elements=2000/manual_time", names)
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({name.split("/")[0] for name in names}, {"dot"})

    def test_suites_have_their_own_cases(self):
        published = self.names("--suite", "published", "--family", "dot")
        self.assertTrue(published)
        self.assertNotEqual(set(published), set(self.names("--quick", "--family", "dot")))

    def test_reports_are_compared_by_compare_py(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("before.json", "after.json")]
            for file in files:
                done = run(*DOT, SHORT, "--benchmark_filter=cpu_scalar", "--benchmark_repetitions=2",
                           f"--benchmark_out={file}", "--benchmark_out_format=json")
                self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(files[0].read_text())
            self.assertEqual(report["context"]["cache"], "warm")
            runs = [entry for entry in report["benchmarks"] if entry["run_type"] == "iteration"]
            self.assertEqual([entry["repetition_index"] for entry in runs], [0, 1, 0, 1])
            for entry in runs:
                elements = int(entry["name"].split("elements=")[1].split("/")[0])
                seconds = entry["real_time"] * 1e-9
                self.assertAlmostEqual(entry["items_per_second"] * seconds / (2 * elements), 1, delta=0.01)
                self.assertGreaterEqual(entry["bytes_per_second"] * seconds, 8 * elements * 0.99)
            if not COMPARE.exists():
                self.skipTest("needs Debian's libbenchmark-tools")
            done = subprocess.run(["/usr/bin/python3", COMPARE, "--no-color", "benchmarks", *files],
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("dot/cpu_scalar/default/elements=2000/manual_time", done.stdout)

    def test_what_is_wrong_is_said(self):
        for arguments, code, word in ((("--family", "nonsense"), 2, "nonsense"), (("-p", "elements"), 2, "elements"),
                                      (("--device", "x"), 2, "neither cpu nor one GPU"), (("--nonsense",), 2, "--help"),
                                      ((*DOT, "--counters"), 3, "GPUs only")):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (code, ""), arguments)
            self.assertIn(word, done.stderr)

    def test_help_has_both_kinds_of_options(self):
        done = run("--help")
        self.assertIn("--suite", done.stdout)
        self.assertIn("--benchmark_filter", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
