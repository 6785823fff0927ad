"""The columns of a family's CSV (docs/files.md): which are features, and what features are called.

A feature whose name is another column's has `problem_` before it there, as in harness/bench/records/csv.cpp: `problem_bytes` of
histograms beside the traffic `bytes`, `problem_samples` of coherent sums beside the number of samples taken.
"""

import csv
from collections.abc import Iterable, Iterator

FIRST = ("family,variant,role,status,reason,problem,configuration,time_ns,time_lo_ns,time_hi_ns,"
         "bytes,ops,gb_per_s,gop_per_s,roofline_share,regret").split(",")
LAST = "device,driver,build,session,cache,samples,disturbed".split(",")
TRANSFER = "transfer_ns"
PREFIX = "problem_"

# What disturbed a case, as the column `disturbed` spells it.
CAUSES = {"programs": "other programs used the processors", "guests": "other guests of the host took the processors",
          "slow_processor": "the processor ran far below its fastest clock",
          "slow_gpu": "heat or the power supply slowed the GPU down"}


def _is_taken(name: str) -> bool:
    while name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name in FIRST or name in LAST or name == TRANSFER


def of_feature(feature: str) -> str:
    """The column of a feature, as a node of a tree names it."""
    return PREFIX + feature if _is_taken(feature) else feature


def feature_of(column: str) -> str:
    """The feature of a column that is one's."""
    return column.removeprefix(PREFIX) if _is_taken(column) else column


def header(names: Iterable[str]) -> list[str]:
    """A header as it is written today. Files of before name where a case comes from nowhere, and spell every feature
    plainly: histogram's `bytes` a second time."""
    names = list(names)
    place = last_columns(names)
    return [name if i < len(FIRST) or place <= i < place + len(LAST) or name == TRANSFER or name.startswith(PREFIX)
            else of_feature(name) for i, name in enumerate(names)]


def last_columns(names: list[str]) -> int:
    """Where the columns LAST begin, one behind the other; the header's length if it has none of them."""
    places = (i for i in range(len(FIRST), len(names)) if names[i:i + len(LAST)] == LAST)
    return next(places, len(names))


def of_problem(names: list[str]) -> list[str]:
    """Those of features and counters, of a header as it is written today."""
    place = last_columns(names)
    return [name for i, name in enumerate(names)
            if i >= len(FIRST) and not place <= i < place + len(LAST) and name != TRANSFER]


def rows(stream: Iterable[str]) -> Iterator[dict]:
    """A file's rows with the features under their own names, as trees and documents ask for them: these hide the column
    that has the name, too, which no reader of such a family's rows asks for."""
    reader = csv.DictReader(stream)
    reader.fieldnames = header(reader.fieldnames or [])
    features = [(feature_of(name), name) for name in of_problem(reader.fieldnames) if feature_of(name) != name]
    for row in reader:
        yield row | {feature: row[name] for feature, name in features}


def speed(row: dict) -> tuple[bool, float]:
    """Sorts the fastest first. A disturbed row comes last: it says nothing of how fast anything is."""
    return bool(row.get("disturbed")), float(row["time_ns"])
