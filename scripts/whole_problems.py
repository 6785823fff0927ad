"""Leaves in a sweep's journal only the problems for which the time sufficed: who is compared was measured in one run.

usage: whole_problems.py JOURNAL...

A problem of which anything that could run has no time yet ("time budget") goes, with all of its cases. Says how many.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
import regular_files  # noqa: E402
from replaced import replace  # noqa: E402


def case_of(line):
    try:
        return json.loads(line).get("case")
    except ValueError:  # a line that a crash cut off; merge says so
        return None


def begun_only(cases):
    """The problems that the time budget cut: (family, problem)."""
    last = {}
    for case in filter(None, cases):
        last[case["family"], case["problem"], case["variant"], case["configuration"]] = case
    return {key[:2] for key, case in last.items()
            if case["status"] == "not_measured" and case["reason"] == "time budget"}


def main(paths):
    for path in map(pathlib.Path, paths):
        lines = list(regular_files.lines(path))
        cases = [case_of(line) for line in lines]
        cut = begun_only(cases)
        if not cut:
            continue
        kept = [line for line, case in zip(lines, cases) if not case or (case["family"], case["problem"]) not in cut]
        replace(path, "".join(kept))
        print(f"peers: {len(cut)} problem{'s' if len(cut) > 1 else ''} took more than --seconds and "
              f"stay{'' if len(cut) > 1 else 's'} as before, e.g. {sorted(cut)[0][1]}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
