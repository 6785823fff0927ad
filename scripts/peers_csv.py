"""Puts rows into a peers.csv: those of their families in it go, or of their problems, others stay.

usage: peers_csv.py PEERS.csv NEW.csv
"""

import csv
import pathlib
import sys


def keep(path, rows, columns, replaced=("family",)):
    """Rows that are alike in the columns `replaced` go. The first columns stay what they are; what a family has for
    itself comes behind them."""
    def group(row):
        return tuple(row[column] for column in replaced)

    groups, others = {group(row) for row in rows}, []
    if path.exists():
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            others = [row for row in reader if group(row) not in groups]
            if others:
                columns = [*reader.fieldnames, *(c for c in columns if c not in reader.fieldnames)]
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".csv.partial")
    with open(partial, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(others)
        writer.writerows(rows)
    partial.replace(path)


def main(path, new):
    with open(new, newline="") as file:
        reader = csv.DictReader(file)
        keep(pathlib.Path(path), list(reader), reader.fieldnames)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
