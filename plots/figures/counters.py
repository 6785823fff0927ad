"""What explains who wins: hardware counters of winners over those of runners-up."""

import math
import statistics

from figures.drawing import Drawing, Skipped
from figures.style import OKABE_ITO, legend_inside, log_axis, new_figure
from page_data import EXPLAINING, explain
from results import Device, Family, quantile

LEAST_PROBLEMS = 3
MOST = 20.0  # ratios beyond are drawn at the edge


def ratios(family: Family) -> dict[str, list[float]]:
    """By counter, the winner's over the runner-up's, of the problems that have both."""
    found: dict[str, list[float]] = {}
    for problem in family.measured():
        ranked = family.ranked(problem)[:2]
        values = [explain(case, range(len(EXPLAINING))) for case in ranked]
        if len(values) < 2 or None in values:
            continue
        for (label, *_), first, second in zip(EXPLAINING, *values):
            if first and second and first > 0 and second > 0:
                found.setdefault(label, []).append(min(MOST, max(1 / MOST, first / second)))
    return {label: of for label, of in found.items() if len(of) >= LEAST_PROBLEMS}


def draw(family: Family):
    found = ratios(family)
    if not found:
        raise Skipped(f"fewer than {LEAST_PROBLEMS} problems of {family.name} have counters of winner and runner-up")
    figure, (axes,) = new_figure(1.3 + 0.42 * len(found))
    for place, (label, values) in enumerate(reversed(found.items())):
        ends = [quantile(values, share) for share in (0.25, 0.75)]
        axes.plot([min(values), max(values)], [place] * 2, color="#9a9a9a", linewidth=0.7, linestyle=":",
                  label="all" if place == 0 else None)
        axes.plot(ends, [place] * 2, color=OKABE_ITO[0], linewidth=3, solid_capstyle="butt",
                  label="middle half" if place == 0 else None)
        axes.plot([statistics.median(values)], [place], color=OKABE_ITO[1], marker="D", linestyle="",
                  label="median" if place == 0 else None)
    axes.set_ylim(-0.6, len(found) - 0.4)
    reach = 1.1 * max(max(abs(math.log(value)) for value in values) for values in found.values())
    axes.set(xlim=(math.exp(-reach), math.exp(reach)), xlabel="winner / runner-up")
    axes.axvline(1, color="black", linewidth=0.6)
    log_axis(axes.xaxis, lambda value: f"{value:.3g}×")
    axes.set_yticks(range(len(found)), [f"{label} ({len(of)})" for label, of in reversed(found.items())])
    legend_inside(axes, 1)
    return figure


def drawings(device: Device) -> list[Drawing]:
    return [Drawing(f"counters-{family.name}", lambda family=family: draw(family),
                    f"Counters that explain who wins {family.name}: the winner's over the runner-up's, over the problems on "
                    "which both were counted, whose number stands behind each name. Ratios beyond 20 are drawn at 20.",
                    [family]) for family in device.families.values()]
