#!/usr/bin/python3
"""What a plain scikit-learn tree would achieve in place of Espalier's learner.

Reads the matrices that `espalier train --matrices DIR` writes, trains a DecisionTreeClassifier with default
settings on the fastest choice of every problem, on the same folds, and enters the geometric-mean held-out
regret as "sklearn_geomean" in results/<device-key>/selector.json.
"""

import argparse
import json
import math
import pathlib
import sys

from sklearn.tree import DecisionTreeClassifier


def held_out_geomean(matrix):
    """Every problem is predicted by a tree that was trained without its fold."""
    values, slowdown, measured = matrix["values"], matrix["log_slowdown"], matrix["measured"]
    problems = range(len(values))
    winner = [min((c for c, known in enumerate(measured[p]) if known), key=slowdown[p].__getitem__) for p in problems]
    logs = []
    for held_out in matrix["folds"]:
        training = sorted(set(problems) - set(held_out))
        tree = DecisionTreeClassifier(random_state=0)
        tree.fit([values[p] for p in training], [winner[p] for p in training])
        for p, choice in zip(held_out, tree.predict([values[p] for p in held_out])):
            logs.append(slowdown[p][choice])
    return math.exp(sum(logs) / len(logs)) if logs else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", type=pathlib.Path, help="folder that `espalier train --matrices` wrote")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("results"))
    arguments = parser.parse_args()
    files = sorted(arguments.matrices.glob("*/*.json"))
    if not files:
        sys.exit(f"no matrices in {arguments.matrices}: run espalier train --matrices {arguments.matrices}")
    for file in files:
        matrix = json.loads(file.read_text())
        path = arguments.results / matrix["device_key"] / "selector.json"
        if not path.exists():
            sys.exit(f"{path} is missing: run espalier train")
        summary = json.loads(path.read_text())
        entry = summary["families"].get(matrix["family"])
        if entry is None or entry["data_sha256"] != matrix["data_sha256"]:
            sys.exit(f"{file} is of other data than {path}: run espalier train --matrices {arguments.matrices}")
        geomean = held_out_geomean(matrix)
        entry["sklearn_geomean"] = None if geomean is None else round(geomean, 4)
        path.write_text(json.dumps(summary, indent=2) + "\n")
        held_out = (entry["held_out"] or {}).get("regret_geomean")
        print(f'{matrix["device_key"]:<20} {matrix["family"]:<18} sklearn {geomean or math.nan:.3f}  espalier {held_out}')


if __name__ == "__main__":
    main()
