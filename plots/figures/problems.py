"""What several figures ask of a family's problems: which variants lead, and which problems differ in one feature."""

from collections import Counter, defaultdict

from quantities import amount
from results import Family

MOST_SERIES = 6


def numbers_of(family: Family) -> list[str]:
    """The features that are numbers in every problem and vary, those of the key first."""
    found = [family.complete(problem) for problem in family.measured()]
    names = [name for name in dict.fromkeys(name for row in found for name in row)
             if all(isinstance(row.get(name), float) for row in found) and len({row[name] for row in found}) > 1]
    return [name for name in names if name not in family.derived] + [name for name in names if name in family.derived]


def leading(family: Family, problems: list[str], most: int = MOST_SERIES) -> list[str]:
    """The variants that win most of these problems, then those that come second most often."""
    places = defaultdict(lambda: [0, 0, 0])
    for problem in problems:
        for place, case in enumerate(family.ranked(problem)[:3]):
            places[case.variant][place] -= 1
    return sorted(places, key=lambda variant: (places[variant], variant))[:most]


def longest_slice(family: Family) -> tuple[str, str, list[str]]:
    """The feature, the others' values in words, and the problems that differ in it alone and in what follows from it: of
    the feature with the most values. Nothing where no two problems do."""
    best: tuple[str, str, list[str]] = ("", "", [])
    for name in (name for name in numbers_of(family) if name not in family.derived):
        groups = defaultdict(list)
        for problem, features in family.measured().items():
            if features.get(name, 0) > 0 and len(family.ranked(problem)) > 1:
                groups[tuple((other, value) for other, value in family.complete(problem).items()
                             if other != name and other not in family.derived)].append(problem)
        for others, problems in groups.items():
            if len(problems) > len(best[2]):
                best = (name, ", ".join(f"{other} {word(value)}" for other, value in others), problems)
    name, where, problems = best
    return name, where, sorted(problems, key=lambda problem: family.features[problem][name])


def word(value) -> str:
    return amount(value) if isinstance(value, float) else str(value)


def winners(family: Family) -> dict[str, str]:
    """By problem the variant that beat another one."""
    ranked = {problem: family.ranked(problem) for problem in family.measured()}
    return {problem: cases[0].variant for problem, cases in ranked.items() if len(cases) > 1}


def by_wins(family: Family, problems) -> list[str]:
    wins = Counter(winner for problem, winner in winners(family).items() if problem in problems)
    return [variant for variant, _ in sorted(wins.items(), key=lambda item: (-item[1], item[0]))]
