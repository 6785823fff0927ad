"""Which features of a family's problems a figure is drawn over.

Families differ in their features, sweeps in what they vary, so nothing here knows any of them by name.
"""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from results import Family

MOST_PANELS = 6


@dataclass
class Plan:
    x: str
    panels: list[tuple[tuple, list[str]]]  # the features that it fixes with their values, problems
    curves: bool  # whether the points of a panel form curves, or only a cloud
    left_out: int  # problems in no panel


def panel_title(features: tuple, longest: int) -> list[str]:
    """As few lines as hold the features."""
    lines: list[str] = []
    for name, value in features:
        text = f"{name} = {text_of(value)}"
        if lines and len(lines[-1]) + len(text) + 2 <= longest:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
    return lines or ["all problems"]


def text_of(value) -> str:
    if value is None:
        return "not given"
    if isinstance(value, str):
        return value
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.3g}"


def varying(family: Family) -> list[str]:
    """Features that more than one value was measured of, in the family's order."""
    names = dict.fromkeys(name for features in family.measured().values() for name in features)
    return [name for name in names if len({f.get(name) for f in family.measured().values()}) > 1]


def is_number(family: Family, name: str) -> bool:
    return all(isinstance(features.get(name, 0.0), float) for features in family.measured().values())


def factors(family: Family, derived: str) -> set[str] | None:
    """The features that a derived one is a product of powers of; None if it is no such product."""
    names = [n for n in varying(family) if n not in family.derived and is_number(family, n)]
    rows = [f for f in family.measured().values() if all(f.get(n, 0) > 0 for n in (*names, derived))]
    if not names or len(rows) < len(family.measured()):
        return None
    matrix = np.array([[1.0] + [math.log(row[n]) for n in names] for row in rows])
    target = np.array([math.log(row[derived]) for row in rows])
    powers = np.linalg.lstsq(matrix, target, rcond=None)[0]
    if np.abs(matrix @ powers - target).max() > 1e-6:
        return None
    return {name for name, power in zip(names, powers[1:]) if abs(power) > 1e-3}


def group(family: Family, x: str) -> list[tuple[tuple, list[str]]] | None:
    """Problems that differ in `x` (and in what it is computed from) alone, the largest groups first."""
    folded = {x}
    if x in family.derived:
        parts = factors(family, x)
        if parts is None:
            return None
        folded |= parts
    others = [name for name in varying(family) if name not in folded and name not in family.derived]
    groups = defaultdict(list)
    for problem, features in family.measured().items():
        if features.get(x, 0) > 0:
            groups[tuple((name, features.get(name)) for name in others)].append(problem)
    return sorted(groups.items(), key=lambda item: -len(item[1]))


def plan(family: Family) -> Plan | None:
    """The x axis that shows most problems in at most six panels of curves."""
    numbers = [name for name in varying(family) if is_number(family, name)]
    if not numbers:
        return None

    def distinct(problems, x):
        return len({family.features[problem].get(x) for problem in problems})

    def best_of(candidates):
        best, best_score = None, (0, 0)
        for x in candidates:
            curves = [(key, problems) for key, problems in group(family, x) or [] if distinct(problems, x) >= 3]
            score = (sum(len(problems) for _, problems in curves[:MOST_PANELS]), -len(curves))
            if score > best_score:
                best, best_score = (x, curves[:MOST_PANELS]), score
        return best, best_score[0]

    # A product of sizes folds their effects into one: second choice, unless the plain features show too little.
    best, shown = best_of([name for name in numbers if name not in family.derived])
    if shown < 0.4 * len(family.measured()):
        product, shown_by_product = best_of([name for name in numbers if name in family.derived])
        best = product if shown_by_product > shown else best
    if best is None:
        x = max(numbers, key=lambda name: distinct(family.measured(), name))
        problems = [p for p, f in family.measured().items() if f.get(x, 0) > 0]
        alone = len(problems) == distinct(problems, x)  # then the few points may be joined all the same
        return Plan(x, [((), problems)], alone, len(family.measured()) - len(problems)) if problems else None
    x, curves = best
    curves.sort(key=lambda item: [(name, value if isinstance(value, float) else 0, str(value)) for name, value in item[0]])
    return Plan(x, curves, True, len(family.measured()) - sum(len(problems) for _, problems in curves))


def entropy(labels) -> float:
    counts = Counter(labels)
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values())


def second_feature(family: Family, x: str) -> str | None:
    """Beside `x`, the feature that tells most about which variant wins."""
    winners = {problem: case.variant for problem in family.measured() if (case := family.winner(problem))}
    folded = {x} | ((factors(family, x) or set()) if x in family.derived else set())
    best, least = None, math.inf
    for name in varying(family):
        if name in folded or name in family.derived:
            continue
        groups = defaultdict(list)
        for problem, winner in winners.items():
            groups[family.features[problem].get(name)].append(winner)
        if not 2 <= len(groups) <= 12:
            continue
        left = sum(len(labels) * entropy(labels) for labels in groups.values())
        if left < least:
            best, least = name, left
    return best
