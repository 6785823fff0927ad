"""The figures that the source documents printed, beside the same cases as measured here: the report's section."""

import math
from dataclasses import dataclass
from pathlib import Path

from figures import duration, short
from like_for_like import NANO, Line, Values
from like_for_like import Table as Counterpart
from published_tables import coherence_tables, tables
from results import Device, Unusable, load_device, read_object


@dataclass
class Row:
    label: str
    cells: list[str]
    unit: str
    note: str = ""


@dataclass
class Table:
    identity: str
    title: str
    device: str
    x: str
    columns: list[str]
    printed: list[Row]
    measured: list[tuple[str, list[Row]]]  # by device


def cell(value) -> str:
    if value is None:
        return "–"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return f"{value:,.10g}"  # every digit that was printed
    return short(value, 30)


def series_name(table: dict, series: dict) -> str:
    variant = series.get("variant", table.get("variant", ""))
    name = str(series.get("name", "")).replace("_", " ")
    return f"{variant}: {name}" if variant else name


def times_of(device: Device) -> dict[str, list[dict]]:
    """By family, what `Values` reads of the cases that are right."""
    return {name: [{"variant": case.variant, "problem": case.problem, "configuration": case.configuration,
                    "time_ns": case.time} for case in family.cases if case.status == "ok"]
            for name, family in device.families.items()}


def measured(ours: Counterpart, rows: dict[str, list[dict]], xs: list) -> list[Row]:
    """The times of the table's lines, whichever device they are of in the documents."""
    values = Values(ours, rows, {}, {line.device: rows for line in ours.lines if isinstance(line, Line)})
    found = []
    for index, line in enumerate(ours.lines):
        if not isinstance(line, Line) or line.quantity not in NANO:
            continue
        cells = [cell.rows[0]["time_ns"] if cell.rows and x not in line.by_column else None
                 for x, cell in zip(xs, values.line(index, xs))]
        if any(time is not None for time in cells):
            label = f"{line.variant} {line.own}".strip() or ours.family
            found.append(Row(short(label, 80), [duration(t) if t else "–" for t in cells], "time"))
    return found


def compare(table: dict, ours: Counterpart | None, devices: list[tuple[str, list[dict]]]) -> Table:
    xs = list(table["x"]["values"])
    printed = [
        Row(short(series_name(table, series), 80), [cell(value) for value in series["values"]],
            short(series.get("unit", ""), 20), short(series.get("note", ""), 300))
        for series in table["series"]
    ]
    by_device = [(name, rows) for name, times in devices if ours and (rows := measured(ours, times, xs))]
    return Table(short(table["id"], 20), short(table["title"], 300), short(table.get("device", ""), 120),
                 short(table["x"]["name"], 60), [cell(x) for x in xs], printed, by_device)


def all_times(results: Path, device: Device) -> dict[str, list[dict]]:
    """Those of `sweep --suite published` before the others, of which the fastest counts where both have a case."""
    times, apart = times_of(device), results / "published" / device.key
    if apart.is_dir():
        for family, rows in times_of(load_device(apart)).items():
            times[family] = rows + times.get(family, [])
    return times


def load(results: Path, devices: list[Device]) -> tuple[list[Table], str]:
    """The comparison, and an error if the file cannot be used."""
    path = results / "published" / "tables.json"
    if not path.exists():
        return [], ""
    counterparts = {ours.identity: ours for ours in [*tables(), *coherence_tables()] if not ours.own_columns}
    times = [(f"{device.name} ({device.key})", all_times(results, device)) for device in devices]
    try:
        return [compare(table, counterparts.get(table["id"]), times) for table in read_object(path)["tables"]], ""
    except (Unusable, OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        return [], f"{path.name}: not a table of published figures ({type(error).__name__}: {error})"
