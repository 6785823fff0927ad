"""scripts/whole_problems.py: a problem that the time budget cut goes, with what was measured of it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "whole_problems.py"
DEVICE = json.dumps({"schema": "espalier.device/1", "device": {"key": "cpu-x"}})


def case(problem, variant, status="ok", reason=""):
    return json.dumps({"schema": "espalier.case/1",
                       "case": {"family": "dot", "problem": problem, "variant": variant, "configuration": "default",
                                "status": status, "reason": reason}})


class WholeProblems(unittest.TestCase):
    def left(self, *lines):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cpu-x.jsonl"
            path.write_text("\n".join(lines) + "\n")
            done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return path.read_text().splitlines(), done.stdout

    def test_what_was_cut_goes_whole(self):
        whole = [case("elements=1", "ours"), case("elements=1", "peer", "unsupported", "no such size")]
        kept, said = self.left(DEVICE, case("elements=2", "ours"), *whole,
                               case("elements=2", "peer", "not_measured", "time budget"))
        self.assertEqual(kept, [DEVICE, *whole])
        self.assertIn("1 problem took more than --seconds and stays as before, e.g. elements=2", said)

    def test_what_was_measured_later_is_whole(self):
        lines = [DEVICE, case("elements=1", "ours", "not_measured", "time budget"), case("elements=1", "ours")]
        self.assertEqual(self.left(*lines), (lines, ""))

    def test_a_line_that_was_cut_off_is_left_to_merge(self):
        lines = [DEVICE, case("elements=1", "ours", "not_measured", "time budget"), '{"schema":"espal']
        self.assertEqual(self.left(*lines)[0], [lines[0], lines[2]])


if __name__ == "__main__":
    unittest.main()
