#!/usr/bin/env python3
"""scripts/lib.sh: what a deadline leaves out is told in the closing table and fails nothing; a failure stays one."""

import pathlib
import subprocess
import tempfile
import unittest

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "scripts/lib.sh"


def run(body):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "steps")
        script.write_text(f"source {LIBRARY}\ntrap stage_summary EXIT\n{body}\n")
        return subprocess.run(["bash", script], capture_output=True, text=True, timeout=60)


class Stages(unittest.TestCase):
    def test_without_a_deadline_everything_runs(self):
        done = run("stage first in_time echo here\nstage second in_time echo there")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("here", done.stdout)
        self.assertRegex(done.stdout, r"s  second\n")

    def test_what_comes_late_is_stopped_or_left_out_and_told(self):
        done = run("SECONDS=10 deadline=12\n"
                   "stage quick in_time echo here\n"
                   "stage slow in_time bash -c 'sleep 50; echo never'\n"
                   "stage later in_time echo never")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("here", done.stdout)
        self.assertNotIn("never", done.stdout)
        self.assertIn("slow: not ended, because 12 s were over", done.stdout)
        self.assertIn("later: left out, because 12 s were over", done.stdout)
        self.assertNotIn("quick:", done.stdout)

    def test_a_failure_in_time_is_one(self):
        done = run("deadline=50\nstage bad in_time false\nstage later in_time echo never")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("never", done.stdout)
        self.assertIn("failed in: bad", done.stderr)


if __name__ == "__main__":
    unittest.main()
