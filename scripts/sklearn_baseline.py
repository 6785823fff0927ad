#!/usr/bin/python3
"""What a plain scikit-learn tree would achieve in place of Espalier's learner.

Reads the matrices that `espalier train --matrices DIR` writes, trains a DecisionTreeClassifier with default
settings on the fastest choice of every problem, on the same folds, and enters its held-out regret in
results/<device-key>/selector.json: "held_out_sklearn", and its geometric mean as "sklearn_geomean".
"""

import argparse
import json
import math
import pathlib
import random
import sys

from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
from regular_files import read_json  # noqa: E402
from replaced import replace  # noqa: E402


RESAMPLES = 2000


def held_out(matrix):
    """Every problem is predicted by a tree that was trained without its fold: log slowdowns, and how many unknown."""
    values, slowdown, measured = matrix["values"], matrix["log_slowdown"], matrix["measured"]
    problems = range(len(values))
    winner = [min((c for c, known in enumerate(measured[p]) if known), key=slowdown[p].__getitem__) for p in problems]
    logs, unmeasured = [], 0
    for fold in matrix["folds"]:
        training = sorted(set(problems) - set(fold))
        tree = DecisionTreeClassifier(random_state=0)
        tree.fit([values[p] for p in training], [winner[p] for p in training])
        for p, choice in zip(fold, tree.predict([values[p] for p in fold])):
            state = matrix["states"][p][choice]
            unmeasured += state in ("missing", "imputed")
            if state != "imputed":  # which is not measured by imputed times
                logs.append(slowdown[p][choice] - min(slowdown[p][c] for c, known in enumerate(measured[p]) if known))
    return logs, unmeasured


def figures(logs, unmeasured):
    """As espalier writes them: geometric mean, nearest-rank P90 and worst with bootstrap intervals over problems."""
    samples = [sorted(logs)] + [sorted(random.choices(logs, k=len(logs))) for _ in range(RESAMPLES)]
    columns = {"geomean": [math.exp(sum(s) / len(s)) for s in samples],
               "p90": [math.exp(s[(9 * len(s) + 9) // 10 - 1]) for s in samples],
               "max": [math.exp(s[-1]) for s in samples]}
    entry = {}
    for name, (value, *resampled) in columns.items():
        resampled.sort()
        entry[f"regret_{name}"] = round(value, 4)
        entry[f"regret_{name}_interval"] = [round(resampled[round(share * (RESAMPLES - 1))], 4)
                                            for share in (0.025, 0.975)]
    return {**entry, "problems": len(logs), "unmeasured": unmeasured}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", type=pathlib.Path, help="folder that `espalier train --matrices` wrote")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("results"))
    arguments = parser.parse_args()
    files = sorted(arguments.matrices.glob("*/*.json"))
    if not files:
        sys.exit(f"no matrices in {arguments.matrices}: run espalier train --matrices {arguments.matrices}")
    for file in files:
        matrix = read_json(file)
        path = arguments.results / matrix["device_key"] / "selector.json"
        if not path.exists():
            sys.exit(f"{path} is missing: run espalier train")
        summary = read_json(path)
        entry = summary["families"].get(matrix["family"])
        if entry is None or entry["data_sha256"] != matrix["data_sha256"]:
            sys.exit(f"{file} is of other data than {path}: run espalier train --matrices {arguments.matrices}")
        random.seed(1)
        logs, unmeasured = held_out(matrix)
        entry["held_out_sklearn"] = figures(logs, unmeasured) if logs else None
        entry["sklearn_geomean"] = entry["held_out_sklearn"]["regret_geomean"] if logs else None
        replace(path, json.dumps(summary, indent=2) + "\n")
        ours = (entry["held_out"] or {}).get("regret_geomean")
        print(f'{matrix["device_key"]:<20} {matrix["family"]:<18} sklearn {entry["sklearn_geomean"]}  espalier {ours}')


if __name__ == "__main__":
    main()
