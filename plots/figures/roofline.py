"""The roofline: the winners of a family below what the device can do."""

import math

from figures.drawing import Drawing, Skipped
from figures.problems import by_wins, winners
from figures.style import MARKERS, OKABE_ITO, OTHER, legend_inside, log_axis, new_figure
from page_data import ceilings
from quantities import amount
from results import Case, Device, Family

MOST_SERIES = 5
DRAM = ("dram__bytes_read.sum", "dram__bytes_write.sum")
STROKES = {"memory": ("memory", "-"), "cache": ("cache", (0, (4, 2))), "fp32": ("fp32", (0, (8, 2))),
           "int32": ("int32", (0, (1, 1.5)))}


def intensity(case: Case, counted: bool) -> float:
    """Operations per byte: of the least traffic, or of the counted one."""
    traffic = sum(case.counters.get(name, math.nan) for name in DRAM) if counted else case.bytes
    return case.ops / traffic if traffic > 0 else math.nan


def distinct(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """One of those that lie within a sixth of a decade: nearer than a mark is wide."""
    return list({(round(6 * math.log10(x)), round(6 * math.log10(y))): (x, y)
                 for x, y in points if x > 0 and y > 0 and math.isfinite(x + y)}.values())


def draw(device: Device, family: Family):
    limits = ceilings(device.info)
    if "memory" not in limits:
        raise Skipped(f"{device.key} has no measured bandwidth")
    won = winners(family)
    order = by_wins(family, won)
    figure, (axes,) = new_figure(5.8)
    kinds = [(variant, [variant]) for variant in order[:MOST_SERIES]]
    if order[MOST_SERIES:]:
        kinds.append(("others", order[MOST_SERIES:]))
    seen: list[tuple[float, float]] = []
    for place, (label, variants) in enumerate(kinds):
        cases = [family.winner(problem) for problem, winner in won.items() if winner in variants]
        colour = OTHER if label == "others" else OKABE_ITO[place]
        for counted in (False, True):
            points = distinct([(intensity(case, counted), case.ops / case.time * 1e9) for case in cases if case.ops > 0])
            if points:
                axes.plot(*zip(*points), linestyle="", marker=MARKERS[place], color=colour, markersize=2.6 + counted,
                          markeredgewidth=0.5, markerfacecolor="none" if counted else colour,
                          label=None if counted else label)
            seen += points
    if not seen:
        raise Skipped(f"the records of {family.name} say neither bytes nor operations")
    low, high = min(x for x, _ in seen) / 2, max(x for x, _ in seen) * 2
    tops = [limits[name] for name in ("fp32", "int32") if name in limits]
    for name, (label, dash) in STROKES.items():
        if name not in limits:
            continue
        slope = name in ("memory", "cache")
        most = max(tops, default=high * limits[name]) / limits[name]
        xs = (low, min(high, most)) if slope else (low, high)
        unit = "B/s" if slope else "op/s"
        if xs[0] < xs[1]:
            axes.plot(xs, [x * limits[name] for x in xs] if slope else [limits[name]] * 2, color="#444444", linestyle=dash,
                      linewidth=0.9, label=f"{label} {amount(limits[name])}{unit}")
    log_axis(axes.xaxis, amount)
    log_axis(axes.yaxis, amount)
    axes.set(xlabel="operations per byte", ylabel="operations per second")
    legend_inside(axes)
    return figure


def drawings(device: Device) -> list[Drawing]:
    return [Drawing(f"roofline-{family.name}", lambda family=family: draw(device, family),
                    f"Roofline of {family.name}. A mark is a problem with its fastest variant. Filled marks have the least "
                    "bytes that any variant needs, so that one above the memory's line had its data in a cache; hollow marks "
                    "have the bytes of device memory that were counted. Ceilings were measured on the device.", [family])
            for family in device.families.values()]
