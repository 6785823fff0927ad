"""The sources' tables, diagrams and figures: what they printed beside the same as measured here, a panel per unit."""

import textwrap
from dataclasses import dataclass
from pathlib import Path

from evidence import Evidence
from figures.drawing import Drawing, Skipped
from figures.style import legend_inside, log_axis, new_figure, series
from like_for_like import Compared, Computed, Line, Table, Values
from published import cpu_of
from published_tables import CPU, coherence_tables, lab_tables, tables
from quantities import amount, short
from results import Device, Family, read_object

UNITS = {"GB/s of DRAM": "GB/s", "warp instructions": "instructions", "count": "instructions", "ratio": "times",
         "bank conflicts, thousand": "thousand", "million sums/s": "million/s", "ms with transfers": "ms"}
MOST_LABEL, LINE, PANEL_CM = 90, 40, 3.6

SLANTED = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}


@dataclass
class Curve:
    label: str
    unit: str
    values: list  # a number per column, or None
    printed: bool


def unit_of(quantity: str) -> str:
    return UNITS.get(quantity, "%" if quantity.endswith("%") else quantity)


def measured(ours: Table, values: Values, xs: list) -> list[Curve]:
    found = []
    for index, line in enumerate(ours.lines):
        try:
            cells = [cell.value for cell in values.line(index, xs)]
        except (KeyError, TypeError, ZeroDivisionError):  # limits that the device's file does not tell
            continue
        if isinstance(line, Line):
            label, unit = ", ".join(name for name in (line.variant, line.own, line.device) if name), unit_of(line.quantity)
            if not label or len({unit_of(one.quantity) for one in ours.lines if isinstance(one, Line)}) > 4:
                label = f"{label} {line.quantity}".strip()
        else:
            label = line.what.replace("`", "")
            unit = "share" if isinstance(line, Computed) else "%" if isinstance(line, Compared) and line.percent else "times"
        if any(cell is not None for cell in cells):
            found.append(Curve(label, unit, cells, False))
    return found


def printed_curves(table: dict | None) -> list[Curve]:
    found = []
    for one in table["series"] if table else []:
        values = [value if isinstance(value, (int, float)) else None for value in one["values"]]
        if any(value is not None for value in values):
            variant = str(one.get("variant", "")).split("/")[-1]
            name = str(one["name"]).replace("_", " ")
            unit = {"fraction": "share"}.get(one["unit"], unit_of(one["unit"]))
            found.append(Curve("printed: " + (f"{variant}, {name}" if variant else name), unit, values, True))
    return found


def panel(axes, curves: list[Curve], xs: list, unit: str) -> None:
    numbers = all(isinstance(x, (int, float)) for x in xs)
    at = list(xs) if numbers else list(range(len(xs)))
    for place, curve in enumerate(curves):
        points = [(x, value) for x, value in zip(at, curve.values) if value is not None]
        look = series(place)
        if not numbers:
            look["linestyle"] = ""
        axes.plot(*zip(*points), label=textwrap.fill(short(curve.label, MOST_LABEL), LINE),
                  **look, markerfacecolor="none" if curve.printed else look["color"], markeredgewidth=0.7)
    positive = all(value > 0 for curve in curves for value in curve.values if value is not None)
    if not numbers:
        axes.set_xticks(at, [short(str(x), 30) for x in xs], **(SLANTED if len(xs) > 2 else {}))
        axes.set_xlim(-0.5, len(xs) - 0.5)
    elif max(xs) > 20 * min(xs) > 0:
        log_axis(axes.xaxis, amount)
    axes.set_ylabel(textwrap.fill(unit, 20))
    values = [value for curve in curves for value in curve.values if value is not None]
    wide = positive and max(values) > 8 * min(values)
    if wide:
        log_axis(axes.yaxis, amount)
    legend_inside(axes)


def draw(ours: Table, table: dict | None, device: Evidence, other: Evidence | None):
    xs = list(table["x"]["values"]) if table else list(ours.own_columns)
    others, failed = ({CPU: other.rows}, {CPU: other.failed}) if other else ({}, {})
    own = measured(ours, Values(ours, device.rows, device.device, others, failed), xs)
    if not any(curve.unit != "share" for curve in own):
        raise Skipped(f"{device.key} has no rows of it")
    curves = own + printed_curves(table)
    units = list(dict.fromkeys(curve.unit for curve in own))
    groups = {unit: [curve for curve in curves if curve.unit == unit] for unit in units}
    figure, found = new_figure(PANEL_CM * len(groups) + 0.8, len(groups))
    found[0].get_gridspec().set_height_ratios([1] * len(groups))
    for axes, (unit, of) in zip(found, groups.items()):
        panel(axes, of, xs, unit)
    name = table["x"]["name"] if table else ours.columns.split("=")[0] if isinstance(ours.columns, str) else ""
    found[-1].set_xlabel(short(name, 60))
    return figure


def provenance_of(published: dict[str, Family], device: Device, family: str) -> list[Family]:
    return [found[family] for found in (published, device.families) if family in found][:1]


def drawings(device: Device, results: Path, exports: Path, published: dict[str, Family]) -> list[Drawing]:
    """`published`: the device's families of the published suite."""
    path = results / "published" / "tables.json"
    if not path.exists():
        return []
    printed = {str(table["id"]): table for table in read_object(path)["tables"]}
    evidence, cpu = Evidence.of(results, exports, device), cpu_of(results, exports)
    other = evidence if device.key.startswith("cpu-") else cpu
    found = []
    for ours in [*tables(), *coherence_tables(), *lab_tables()]:
        table = printed.get(ours.identity)
        title = table["title"] if table else ours.title
        caption = (f"{ours.identity}: {title}. " + (f"Printed for: {table.get('device', 'not stated')}; hollow marks. " if table
                   else "Described without printed figures. ") + ours.heading().replace("`", "") + " " + ours.remark)
        found.append(Drawing(f"published-{ours.identity}", lambda ours=ours, table=table: draw(ours, table, evidence, other),
                             caption.replace("`", "").strip(), provenance_of(published, device, ours.family)))
    return found
