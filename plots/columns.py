"""The columns of a family's CSV (docs/files.md): which are features, and what features are called.

A feature whose name is another column's has `problem_` before it there, as in harness/bench/records/csv.cpp: `problem_bytes` of
histograms beside the traffic `bytes`, `problem_samples` of coherent sums beside the number of samples taken.
"""

from collections.abc import Iterable

FIRST = ("family,variant,role,status,reason,problem,configuration,time_ns,time_lo_ns,time_hi_ns,"
         "bytes,ops,gb_per_s,gop_per_s,roofline_share,regret").split(",")
LAST = "device,driver,build,session,cache,samples,disturbed".split(",")
TRANSFER = "transfer_ns"
STAGES = "stages"  # the variants that ran as a pipeline's stages
PREFIX = "problem_"
FIXED = {*FIRST, *LAST, TRANSFER, STAGES}

# What disturbed a case, as the column `disturbed` spells it.
CAUSES = {"programs": "other programs used the processors", "guests": "other guests of the host took the processors",
          "slow_processor": "the processor ran far below its fastest clock",
          "slow_gpu": "heat or the power supply slowed the GPU down"}


def _is_taken(name: str) -> bool:
    while name.startswith(PREFIX):
        name = name.removeprefix(PREFIX)
    return name in FIXED


def feature_of(column: str) -> str:
    """The feature of a column that is one's."""
    return column.removeprefix(PREFIX) if _is_taken(column) else column


def of_problem(names: Iterable[str]) -> list[str]:
    """Those of features and counters."""
    return [name for name in names if name not in FIXED]


def speed(row: dict) -> tuple[bool, float]:
    """Sorts the fastest first. A disturbed row comes last: it says nothing of how fast anything is."""
    return bool(row.get("disturbed")), float(row["time_ns"])
