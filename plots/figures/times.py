"""Times with their intervals, and rates, of the leading variants over one feature of the problem."""

import math

from figures.drawing import Drawing, Skipped
from figures.problems import leading, longest_slice
from figures.style import legend_inside, log_axis, new_figure, series
from quantities import amount, duration
from results import Device, Family

LEAST_POINTS, MOST_POINTS = 3, 24


def slice_of(family: Family) -> tuple[str, str, list[str]]:
    name, where, problems = longest_slice(family)
    if len(problems) < LEAST_POINTS:
        raise Skipped(f"no {LEAST_POINTS} problems of {family.name} differ in one number alone")
    places = range(min(len(problems), MOST_POINTS))
    return name, where, [problems[round(i * (len(problems) - 1) / (len(places) - 1))] for i in places]


def curve(family: Family, variant: str, name: str, problems: list[str]) -> list[tuple]:
    """The variant's undisturbed best cases, each with the feature's value."""
    found = [(family.features[problem][name], family.best()[problem].get(variant)) for problem in problems]
    return [(x, case) for x, case in found if case is not None and not case.disturbed]


def times(family: Family):
    name, _, problems = slice_of(family)
    figure, (axes,) = new_figure(5.4)
    for place, variant in enumerate(leading(family, problems)):
        points = curve(family, variant, name, problems)
        low = [case.time - case.low if case.has_interval else 0 for _, case in points]
        high = [case.high - case.time if case.has_interval else 0 for _, case in points]
        axes.errorbar([x for x, _ in points], [case.time for _, case in points], [low, high], label=variant,
                      elinewidth=0.8, **series(place))
    finish(axes, name, "time", duration)
    return figure


def rate_of(family: Family, problems: list[str]) -> tuple[str, str]:
    """Which amount of work is divided by the time, and its unit per ns."""
    case = family.winner(problems[0])
    return ("ops", "Gop/s") if case.ops > 0 and math.isfinite(case.ops) else ("bytes", "GB/s")


def scaling(family: Family):
    name, _, problems = slice_of(family)
    work, unit = rate_of(family, problems)
    figure, (axes,) = new_figure(5.4)
    for place, variant in enumerate(leading(family, problems)):
        points = [(x, getattr(case, work) / case.time) for x, case in curve(family, variant, name, problems)
                  if getattr(case, work) > 0]
        axes.plot(*zip(*points), label=variant, **series(place)) if points else None
    if not axes.lines:
        raise Skipped(f"the records of {family.name} say neither bytes nor operations")
    finish(axes, name, unit, amount)
    return figure


def finish(axes, name: str, title: str, write) -> None:
    log_axis(axes.xaxis, amount)
    log_axis(axes.yaxis, write)
    axes.set(xlabel=name, ylabel=title)
    legend_inside(axes)


def drawings(device: Device) -> list[Drawing]:
    found = []
    for family in device.families.values():
        name, where, _ = longest_slice(family)
        what = f"{family.name} by {name}" + (f", {where}" if where else "")
        found.append(Drawing(f"times-{family.name}", lambda family=family: times(family), f"Times of {what}. Each variant "
                             "that leads, with its best configuration at every point; bars are 95% intervals of the "
                             "median, often smaller than the mark.", [family]))
        found.append(Drawing(f"scaling-{family.name}", lambda family=family: scaling(family), f"Rates of {what}: the least "
                             "work that any variant needs, over the time, of the variants that lead.", [family]))
    return found
