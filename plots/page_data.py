"""What the report's scripts draw from: per device and family columns of numbers, texts by index.

Times have four significant digits, intervals whole per mille of the time: below what a measurement repeats.
"""

import json
import math

import columns
from results import Choice, Device, Family, geometric_mean

# What explains a time: (label, CUPTI's name or two that are added, per what, unit). The page shows those that were counted.
EXPLAINING = [
    ("DRAM traffic / least", ("dram__bytes_read.sum", "dram__bytes_write.sum"), "bytes", "×"),
    ("DRAM busy", ("dram__throughput.avg.pct_of_peak_sustained_elapsed",), "", "%"),
    ("L2 hits", ("lts__t_sector_hit_rate.pct",), "", "%"),
    ("L1 hits", ("l1tex__t_sector_hit_rate.pct",), "", "%"),
    ("bank conflicts / wavefront", ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",),
     "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", ""),
    ("warp instructions / 1000 ops", ("smsp__inst_executed.sum",), "ops", ""),
    ("issue slots used", ("smsp__issue_active.avg.pct_of_peak_sustained_active",), "", "%"),
    ("FMA pipe", ("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",), "", "%"),
    ("ALU pipe", ("sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",), "", "%"),
    ("warps active", ("sm__warps_active.avg.pct_of_peak_sustained_active",), "", "%"),
    ("stalled on memory", ("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",), "", ""),
]


def digits(value: float, count: int = 4):
    """`value` with so many significant digits, short in JSON; None if it is not finite."""
    try:
        rounded = float(f"{value:.{count}g}")
    except OverflowError:  # a whole number beyond the floating ones
        return None
    if not math.isfinite(rounded):
        return None
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


class Words:
    """Texts by index."""

    def __init__(self):
        self.index: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.index.setdefault(text, len(self.index))

    def listed(self) -> list[str]:
        return list(self.index)


def order_of_variants(family: Family) -> list[str]:
    """Those that win most first: the first eight have colours, the others are grey."""
    wins = family.wins()
    means = {variant: geometric_mean(values) for variant, values in family.slowdowns().items()}
    return sorted(family.variants(), key=lambda v: (-wins[v], means.get(v, math.inf), v))


def describe_features(family: Family, rows: list[dict]) -> list[dict]:
    """Name, words if it has some, and whether it is derived: computed from the others, which no key spells."""
    described = []
    for name in dict.fromkeys(name for row in rows for name in row):
        entry: dict = {"name": name}
        values = [row.get(name) for row in rows]
        if not all(isinstance(value, float) for value in values):
            entry["words"] = sorted({"" if value is None else str(value) for value in values})
        elif name in family.derived:
            entry["derived"] = True
        described.append(entry)
    return described


def column(entry: dict, rows: list[dict]) -> list:
    if "words" in entry:
        index = {word: i for i, word in enumerate(entry["words"])}
        return [index["" if row.get(entry["name"]) is None else str(row[entry["name"]])] for row in rows]
    return [digits(row[entry["name"]], 9) for row in rows]


def explain(case, labels: list[int]) -> list | None:
    """The explaining counters of a case; None if nothing was counted."""
    if not case.counters:
        return None
    base = {"bytes": case.bytes, "ops": case.ops / 1000, "": 1.0}
    values = []
    for i in labels:
        _, names, per, _ = EXPLAINING[i]
        divisor = base.get(per, case.counters.get(per, math.nan))
        total = sum(case.counters.get(name, math.nan) for name in names)
        values.append(digits(total / divisor, 3) if divisor else None)
    return values


class Leaves:
    """The leaves of the library's choices, by index; those of the tree that is drawn have their number there, others -1."""

    def __init__(self, drawn: str):
        self.drawn = drawn  # the tree of which device
        self.index: dict[tuple, int] = {}

    def __call__(self, choice: Choice) -> int:
        leaf = choice.leaf if choice.tree_device == self.drawn else -1
        known = leaf, choice.tree_device, choice.leaf_problems, choice.other_leaf, choice.conditions
        return self.index.setdefault(known, len(self.index))

    def listed(self) -> list[dict]:
        return [dict(zip(("drawn", "device", "problems", "other", "conditions"), leaf)) for leaf in self.index]


def pick(choice: Choice | None, variants: Words, configurations: Words, leaves: Leaves) -> list:
    """Variant, configuration, time, leaf, and why its regret is none or that of a failure, if it is; nothing if none is
    known."""
    if choice is None or not choice.variant:
        return []
    reason = [choice.reason] if choice.reason else []
    return [variants(choice.variant), configurations(choice.configuration), digits(choice.time),
            leaves(choice) if choice.tree_device else -1, *reason]


def problem_columns(family: Family, rows: list[dict], features: list[dict], variants: Words, configurations: Words,
                    leaves: Leaves) -> dict:
    """The problems with a time: features, cost, and the best configuration of each variant, the fastest first; and of which
    variants that one was disturbed, or has too few samples for an interval."""
    labels = [i for i, (_, names, _, _) in enumerate(EXPLAINING) if set(names) <= set(family.counters)]
    best, floors, costs, transfers, picks, regrets, counters = [], [], [], [], [], [], []
    disturbed, few = [], []
    for problem in family.measured():
        ranked = sorted(family.best()[problem].values(), key=lambda case: case.time)
        first = ranked[0]
        floors.append(digits(first.roofline * first.time, 3))
        costs.append([digits(first.bytes), digits(first.ops)])
        transfers.append(digits(first.transfer, 3))
        choice = family.choices.get(problem)
        picks.append(pick(choice, variants, configurations, leaves))
        regrets.append(digits(choice.regret) if choice else None)
        flat = []
        for case in ranked:
            flat += [variants(case.variant), configurations(case.configuration), digits(case.time),
                     round(1000 * (1 - case.low / case.time)), round(1000 * (case.high / case.time - 1))]
        best.append(flat)
        disturbed.append({variants(case.variant): columns.CAUSES.get(case.disturbed, case.disturbed)
                          for case in ranked if case.disturbed} or 0)
        few.append([variants(case.variant) for case in ranked if case.too_few] or 0)
        counted = [[variants(case.variant), *values] for case in ranked if (values := explain(case, labels))]
        counters.append(counted or 0)
    found = {"features": [column(entry, rows) for entry in features], "best": best, "floor": floors, "cost": costs,
             "transfer": transfers, "pick": picks, "regret": regrets,
             "apart": [variants(variant) for variant in sorted(family.apart())]}
    found |= {name: listed for name, listed in (("disturbed", disturbed), ("few", few)) if any(listed)}
    if any(counters):
        found |= {"counted": [[EXPLAINING[i][0], EXPLAINING[i][3], " + ".join(EXPLAINING[i][1])] for i in labels],
                  "counters": counters}
    return found


def family_data(device: Device, family: Family) -> dict:
    unseen = device.unseen.get(family.name)
    if unseen is not None and not unseen.measured():
        unseen = None
    rows = [family.complete(problem) for problem in family.measured()]
    drawn = [unseen.complete(problem) for problem in unseen.measured()] if unseen else []
    features = describe_features(family, rows + drawn)
    variants, configurations, leaves = Words(), Words(), Leaves(device.key if family.tree else "")
    for variant in order_of_variants(family):
        variants(variant)
    found = {"features": features, "grid": problem_columns(family, rows, features, variants, configurations, leaves)}
    if unseen:
        found["unseen"] = problem_columns(unseen, drawn, features, variants, configurations, leaves)
    return found | {"leaves": leaves.listed(), "variants": variants.listed(), "configurations": configurations.listed()}


def ceilings(info: dict) -> dict:
    names = {"bytes_per_second": "memory", "cached_bytes_per_second": "cache", "fp32_per_second": "fp32",
             "int_per_second": "int32"}
    return {label: digits(float(info[name])) for name, label in names.items()
            if isinstance(info.get(name), (int, float)) and not isinstance(info[name], bool) and 0 < info[name] < 1e30}


def as_script(data) -> str:
    """JSON that may stand in a script element: no text of it can end the element or open a comment."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
