#!/usr/bin/python3
"""`espalier slurm` on a real Slurm: shards, merging, preemption and requeueing.

usage: slurm_test.py FAULTY_ESPALIER     exits with 77 (skipped) where Slurm is not installed
"""

import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "faults"), str(TESTS / "support")]

import cluster as row_22  # noqa: E402
from injection import key, only, records  # noqa: E402
from slurm_cluster import Cluster, missing_programs  # noqa: E402

PROGRAM = ""


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="espalier-slurm-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.cluster = Cluster(cls.folder / "cluster")
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def submit(self, place: Path, *options: str, sweep: tuple[str, ...]) -> dict:
        done = subprocess.run([PROGRAM, "slurm", "--json", "--output", place / "journal", "--results", place / "results",
                               *options, "--", *sweep], env=self.cluster.environment, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def finish(self, seconds: float = 120) -> None:
        self.cluster.wait_until(lambda: not self.cluster.jobs(), seconds, f"jobs do not end: {self.cluster.jobs()}")

    def test_an_array_of_shards_is_swept_and_merged(self):
        place = self.folder / "it's an array, 50%a"
        start = time.monotonic()
        jobs = self.submit(place, "--shards", "4", sweep=(
            "--quick", "--no-ceilings", "--noise", "20%", "--variant", "right,right_baseline", "-p", "size=100", "-p",
            "seed=" + ",".join(map(str, range(9)))))
        self.assertTrue(jobs["array_job"].isdigit() and jobs["merge_job"].isdigit())
        self.finish()
        self.assertEqual(len(list((place / "journal").glob("*.shard-?-of-4.jsonl"))), 4)
        cases = [key(case) for case in records(only(place / "results", "*/faulty.jsonl"))]
        self.assertEqual((len(cases), len(set(cases))), (27, 27))
        coverage = json.loads(only(place / "results", "*/coverage.json").read_text())
        self.assertEqual(coverage["coverage"]["holes"], [])
        logs = sorted(path.name for path in (place / "journal/slurm").glob("*.out"))
        self.assertEqual([re.sub(r"\.\d+\.out", "", name) for name in logs], ["merge", *(f"shard-{n}" for n in range(1, 5))])
        print(f"four shards, submitted, swept and merged in {time.monotonic() - start:.0f} s")

    def test_preempted_and_requeued_shards_resume(self):
        outcome = row_22.interrupted_array(self.cluster, Path(PROGRAM), self.folder / "preempted", problems=16)
        self.assertTrue(outcome.sound, outcome)
        self.assertGreaterEqual(outcome.injected, 2)

    def test_an_error_of_sbatch_is_reported(self):
        done = subprocess.run([PROGRAM, "slurm", "--output", self.folder / "none", "--sbatch=--partition=nowhere"],
                              env=self.cluster.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("sbatch did not take", done.stderr)


class Scripts(unittest.TestCase):
    """What needs no cluster."""

    def run_slurm(self, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run([PROGRAM, "slurm", *options], capture_output=True, text=True, timeout=60)

    def test_words_of_the_script_are_quoted(self):
        done = self.run_slurm("--dry-run", "--sbatch=--gres=gpu:1", "--", "-p", "size=$(reboot)", "it's")
        self.assertIn("#SBATCH --gres=gpu:1\n", done.stdout)
        line = next(line for line in done.stdout.splitlines() if line.startswith("exec"))
        self.assertIn("'size=$(reboot)' 'it'\\''s' --shard", line)
        self.assertEqual(subprocess.run(["sh", "-n"], input=done.stdout, text=True).returncode, 0)

    def test_directives_are_words_of_a_shell(self):
        place = "/tmp/it's a folder; with $(words) \"and\" 50%a # of \\ it"
        done = self.run_slurm("--dry-run", "--output", place, "--sbatch=--comment=two words", "--sbatch=--partition=gpu")
        directives = [shlex.split(line.removeprefix("#SBATCH ")) for line in done.stdout.splitlines()
                      if line.startswith("#SBATCH ")]
        self.assertEqual({len(words) for words in directives}, {1})
        words = [words[0] for words in directives]
        self.assertIn("--comment=two words", words)
        self.assertIn("--partition=gpu", words)
        self.assertIn(f"--output={place.replace('%', '%%')}/slurm/shard-%a.%A.out", words)
        for line in done.stdout.splitlines():
            if line.startswith("exec "):
                self.assertIn(place, shlex.split(line))
        for option in ("-p gpu", "--partition gpu", "partition=gpu"):
            done = self.run_slurm("--dry-run", f"--sbatch={option}")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--sbatch=--partition=gpu", done.stderr)

    def test_names_that_act_are_refused(self):
        for name in ("a\x1bb", "a\nb", "a\u202eb"):
            for options in (("--output", name), ("--results", name), (f"--sbatch=--comment={name}",), ("--", name)):
                self.assertEqual(self.run_slurm("--dry-run", *options).returncode, 2, options)

    def test_what_the_array_sets_itself_is_refused(self):
        for option in ("--shard=1/2", "--resume", "--output"):
            done = self.run_slurm("--dry-run", "--", option)
            self.assertEqual(done.returncode, 2)
            self.assertIn(option, done.stderr)
        self.assertEqual(self.run_slurm("--dry-run", "--", "a\nb").returncode, 2)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    if missing_programs():
        print(f"skipped: {', '.join(missing_programs())} missing; scripts/setup test installs them")
        sys.exit(77)
    unittest.main(verbosity=2)
