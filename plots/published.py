"""The figures that the source documents printed, beside the same cases as measured here: the report's section."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from evidence import Evidence, number
from quantities import short
from like_for_like import Line, Values
from like_for_like import Table as Counterpart
from published_tables import CPU, coherence_tables, lab_tables, tables
from results import Device, Unusable, load_device, read_object

COMMAND = (("`espalier knn`, start to end: s", "seconds", 1), ("file size, MB", "file_bytes", 1e6),
           ("largest resident set, MB", "peak_resident_bytes", 1e6))
SHARES = "Shares of the device's limits, computed from S1's row of global_cached: docs/performance/coherent-sum.md."


@dataclass
class Row:
    label: str
    cells: list[str]
    unit: str = ""
    note: str = ""


@dataclass
class Group:
    """What one device measured of a table, and why some of it has no time."""

    device: str
    rows: list[Row]
    reasons: list[str]


@dataclass
class Table:
    identity: str
    title: str
    device: str
    x: str
    columns: list[str]
    printed: list[Row]
    heading: str = ""  # what a measured cell is of
    measured: list[Group] = field(default_factory=list)
    remark: str = ""


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


def plain(text: str) -> str:
    """Without the marks of code; the page shows a label as it is."""
    return text.replace("`", "")


def measured(ours: Counterpart, device: Evidence, other: Evidence, xs: list,
             printed: list[list]) -> tuple[list[Row], list[str]]:
    """The lines of a table that a device has cells of, beside those of the CPU `other`; nothing if it measured none of them
    itself."""
    values = Values(ours, device.rows, device.device, {CPU: other.rows}, {"": device.failed, CPU: other.failed})
    found, own = [], False
    for index, line in enumerate(ours.lines):
        try:
            cells = values.line(index, xs)
        except (KeyError, TypeError, ZeroDivisionError):  # limits that its file does not tell
            continue
        found.append((line.label(), cells))
        own |= isinstance(line, Line) and (not line.device or other is device) and any(one.rows for one in cells)
    rows = [Row(short(plain(label), 120), [number(one.value) for one in cells])
            for label, cells in found + values.faster(xs, printed) if any(one.value is not None for one in cells)]
    reasons = [f"Without a time, {reason}: {plain('; '.join(cells))}." for reason, cells in values.reasons(xs).items()]
    return (rows, reasons) if own else ([], [])


def cpu_of(results: Path, exports: Path) -> Evidence | None:
    """The CPU that lines of a GPU's tables name: the one that the published suite was run on."""
    folders = sorted((results / "published").glob("cpu-*"))
    if not folders:
        return None
    return Evidence.of(results, exports, load_device(folders[0], exports / "published" / folders[0].name))


def commands(identity: str, device: Evidence, xs: list) -> list[Row]:
    """K14 and S3 are of whole commands."""
    runs = {run["rows"]: run for run in device.runs("knn")}
    if identity == "K14" and runs:
        return [Row(label, [number(runs[x][name] / unit if x in runs else None) for x in xs])
                for label, name, unit in COMMAND]
    copies = device.applications.get("device", {}).get("copies", {})
    if identity == "S3" and copies:
        return [Row(f"{kind}, GB/s", [number(copies[f"{kind}_{way}"] / 1e9) for way in ("to_device", "to_host")])
                for kind in ("pageable", "pinned")]
    return []


def compare(printed: dict | None, ours: Counterpart | None, devices: list[Evidence], cpu: Evidence | None,
            why: str) -> Table:
    if printed:
        xs = list(printed["x"]["values"])
        table = Table(short(printed["id"], 20), short(printed["title"], 300), short(printed.get("device", ""), 120),
                      short(printed["x"]["name"], 60), [cell(x) for x in xs], [
            Row(short(series_name(printed, series), 80), [cell(value) for value in series["values"]],
                short(series.get("unit", ""), 20), short(series.get("note", ""), 300)) for series in printed["series"]])
    else:
        xs = list(ours.own_columns)
        table = Table(ours.identity, ours.title, "", ours.columns.split("=")[0] if isinstance(ours.columns, str) else "",
                      [cell(x) for x in xs], [])
    table.remark = why
    if not ours:
        table.measured = [Group(f"{device.name} ({device.key})", [Row(plain(row.label), row.cells) for row in rows], [])
                          for device in devices if (rows := commands(table.identity, device, xs))]
        return table
    table.heading = plain(ours.heading())
    series = [entry["values"] for entry in printed["series"]] if printed else []
    for device in devices:
        other = device if device.key.startswith("cpu-") or cpu is None else cpu
        rows, reasons = measured(ours, device, other, xs, series)
        if rows:
            where = f"{device.name} ({device.key})"
            if other is not device and any(f", {CPU}: " in row.label for row in rows):
                where += f"; CPU: {other.key}"
            table.measured.append(Group(where, rows, reasons))
    if table.measured:
        table.remark = plain(ours.remark)
    return table


def load(results: Path, exports: Path, devices: list[Device]) -> tuple[list[Table], str]:
    """The comparison, and an error if the file cannot be used."""
    path = results / "published" / "tables.json"
    if not path.exists():
        return [], ""
    try:
        printed = {str(table["id"]): table for table in read_object(path)["tables"]}
        reasons = {"S2": SHARES}
        if (elsewhere := path.with_name("counterparts.json")).exists():
            reasons |= {name: plain(str(why)) for group in ("applications", "none")
                        for name, why in read_object(elsewhere)[group].items()}
        ours = {one.identity: one for one in [*tables(), *coherence_tables(), *lab_tables()]}
        found, cpu = [Evidence.of(results, exports, device) for device in devices], cpu_of(results, exports)
        listed = [compare(table, ours.get(name), found, cpu, reasons.get(name, "")) for name, table in printed.items()]
        described = [compare(None, one, found, cpu, "") for one in ours.values() if one.own_columns]
        return listed + [table for table in described if table.measured], ""
    except (Unusable, OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        return [], f"{path.name}: not a table of published figures ({type(error).__name__}: {error})"
