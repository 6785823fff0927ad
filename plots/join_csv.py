"""Joins CSV files of several families into one: the columns that all have come first, as in each of them, then the
others; empty where a file lacks one.

usage: join_csv.py FILE.csv... >JOINED.csv
"""

import csv
import sys


def main(paths):
    tables = []
    for path in paths:
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            tables.append((reader.fieldnames, list(reader)))
    shared = [name for name in tables[0][0] if all(name in names for names, _ in tables)]
    columns = shared + list(dict.fromkeys(name for names, _ in tables for name in names if name not in shared))
    writer = csv.DictWriter(sys.stdout, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for _, rows in tables:
        writer.writerows(rows)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
