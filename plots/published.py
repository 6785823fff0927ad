"""The figures that the source documents printed, beside the same problems as measured here."""

import math
from dataclasses import dataclass
from pathlib import Path

from figures import duration, short
from results import Device, Unusable, read_object

# What the documents call a quantity, and what features of problems may be called.
ALIASES = {
    "queries": ("queries", "rows"),
    "points": ("points", "columns"),
    "n (n by n matrix)": ("queries", "points", "n", "rows", "columns"),
}


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


def wanted(table: dict, x) -> dict:
    """Feature values that the table fixes, under every name that a family may use for them."""
    fixed = {name: table[name] for name in ("metric", "queries", "points", "dims", "receivers") if name in table}
    fixed["window" if "window_samples" in table else ""] = table.get("window_samples")
    fixed[str(table["x"]["name"])] = x
    names = {}
    for name, value in fixed.items():
        for alias in ALIASES.get(name, (name,)):
            names[alias] = float(value) if isinstance(value, (int, float)) else value
    return names


def measured_time(device: Device, variant: str, features: dict) -> float | None:
    """The best time of the variant on a problem that agrees in every feature that the table fixes."""
    family_name, _, name = variant.partition("/")
    family = device.families.get(family_name)
    if family is None:
        return None
    times = []
    for problem, variants in family.best().items():
        own = family.features[problem]
        shared = [key for key in features if key in own]
        if name in variants and shared and all(own[key] == features[key] for key in shared):
            times.append(variants[name].time)
    return min(times, default=None)


def series_name(table: dict, series: dict) -> str:
    variant = series.get("variant", table.get("variant", ""))
    name = str(series.get("name", "")).replace("_", " ")
    return f"{variant}: {name}" if variant else name


def compare(table: dict, devices: list[Device]) -> Table:
    xs = list(table["x"]["values"])
    printed = [
        Row(short(series_name(table, series), 80), [cell(value) for value in series["values"]],
            short(series.get("unit", ""), 20), short(series.get("note", ""), 300))
        for series in table["series"]
    ]
    variants = dict.fromkeys(str(s.get("variant", table.get("variant", ""))) for s in table["series"])
    variants = [name for name in variants if "/" in name]
    if table["x"]["name"] == "variant":
        variants = []  # each column is a variant of its own: nothing to line up by problem
    measured = []
    for device in devices:
        rows = []
        for variant in variants:
            times = [measured_time(device, variant, wanted(table, x)) for x in xs]
            if any(time is not None for time in times):
                rows.append(Row(short(variant, 80), [duration(t) if t else "–" for t in times], "time"))
        if rows:
            measured.append((f"{device.name} ({device.key})", rows))
    return Table(short(table["id"], 20), short(table["title"], 300), short(table.get("device", ""), 120),
                 short(table["x"]["name"], 60), [cell(x) for x in xs], printed, measured)


def load(results: Path, devices: list[Device]) -> tuple[list[Table], str]:
    """The comparison, and a complaint if the file cannot be used."""
    path = results / "published" / "tables.json"
    if not path.exists():
        return [], ""
    try:
        return [compare(table, devices) for table in read_object(path)["tables"]], ""
    except (Unusable, OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        return [], f"{path.name}: not a table of published figures ({type(error).__name__}: {error})"
