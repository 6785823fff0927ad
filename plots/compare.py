#!/usr/bin/python3
"""Writes what `espalier compare --json` prints as a self-contained HTML page: regressions first, variants before cases.

usage: compare.py --before NAME --after NAME --output FILE < comparison.json
Exit codes as those of the command line: 0 fine, 2 usage, 4 bad data.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import shell
from replaced import exit_on_signals, replace
from results import inert_values, printable

MOST_CASES = 4000  # of those that stayed the same the first are shown: the page stays below two megabytes
WIDTH, FARTHEST = 140, 2.0  # of the picture of an interval, in pixels, and the ratio at its ends


def place(ratio: float) -> float:
    """Where a ratio lies in the picture: logarithmic, 1 in the middle."""
    share = math.log(min(max(ratio, 1 / FARTHEST), FARTHEST)) / math.log(FARTHEST)
    return round(WIDTH / 2 * (1 + share) * 0.98 + WIDTH * 0.01, 1)


def change(told: dict) -> dict:
    """What a case and a variant have in common."""
    low, high = told["interval"]
    return {"verdict": told["verdict"], "ratio": float(told["ratio"]), "low": float(low), "high": float(high),
            "alone": told["relative_to"] == "machine", "at": [place(low), place(told["ratio"]), place(high)]}


def case_row(case: dict) -> dict:
    variant, problem, configuration = (case["case"].split("|") + ["", ""])[:3]
    return change(case) | {"family": variant.partition("/")[0], "variant": variant.partition("/")[2],
                           "problem": problem, "configuration": configuration, "before": float(case["before_ns"]),
                           "after": float(case["after_ns"]), "source_changed": case["source_changed"]}


def variant_row(variant: dict) -> dict:
    return change(variant) | {"name": variant["variant"], "cases": int(variant["cases"]),
                              "problems": int(variant["problems"])}


def worst_first(changes: list[dict]) -> list[dict]:
    """The slower ones, the worst first, then the faster ones, the best first, then the rest."""
    order = {"slower": 0, "faster": 1}
    return sorted(changes, key=lambda one: (order.get(one["verdict"], 2),
                                            one["ratio"] if one["verdict"] == "faster" else -one["ratio"]))


def named_shift(ratio: float) -> str:
    """"1.120x slower", "1.050x faster"."""
    return f"{ratio:.3f}x slower" if ratio >= 1 else f"{1 / ratio:.3f}x faster"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    try:
        comparison = inert_values(json.load(sys.stdin))
        listed = [case_row(case) for case in worst_first(comparison["cases"])]
        variants = [variant_row(variant) for variant in worst_first(comparison["variants"])]
        machine = comparison["machine_ratio"]
        broken = [{**case, **dict(zip(("variant", "problem", "configuration"), case["case"].split("|")))}
                  for case in comparison["broken"]]
        code = shell.script("dom", "compare")
        changed = sum(case["verdict"] != "same" for case in listed)
        page = shell.environment().get_template("compare.html").render(
            comparison=comparison, rows=listed[:max(MOST_CASES, changed)], variants=variants, broken=broken,
            machine=None if machine is None else named_shift(float(machine)), before=inert_values(options.before),
            after=inert_values(options.after), width=WIDTH, middle=place(1), farthest=FARTHEST, code=code,
            policy=shell.policy(code))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        print(f"compare: no output of espalier compare --json: {error}", file=sys.stderr)
        return 4
    try:
        replace(options.output, page)
    except OSError as error:
        print(f"compare: {printable(str(error))}: check the path, its permissions and the disk", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    exit_on_signals()
    sys.exit(main(sys.argv[1:]))
