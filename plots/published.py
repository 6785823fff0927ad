"""The figures that the source documents printed, beside the same cases as measured here: the report's section."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from evidence import newest, number
from figures import duration, short
from like_for_like import NANO, Cell, Compared, Line, Values
from like_for_like import Table as Counterpart
from published_tables import CPU, coherence_tables, lab_tables, tables
from results import Device, Family, Unusable, load_device, read_object

Rows = dict[str, list[dict]]  # by family, as `Values` reads them
SHARES = "Shares of the device's limits, computed from S1's row of global_cached: docs/performance/coherent-sum.md."


@dataclass
class Row:
    label: str
    cells: list[str]
    unit: str
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


def rows_of(family: Family, wanted: bool) -> list[dict]:
    """Cases that are right, or those that gave no time, with everything that a quantity is computed from."""
    found = []
    for case in family.cases:
        if (case.status == "ok") != wanted:
            continue
        row = {"variant": case.variant, "problem": case.problem, "configuration": case.configuration, "status": case.status,
               "reason": case.reason, "time_ns": case.time, "bytes": case.bytes, "ops": case.ops, "disturbed": case.disturbed}
        if math.isfinite(case.transfer):
            row["transfer_ns"] = case.transfer
        found.append(row | family.features[case.problem] | case.counters)
    return found


def plain(text: str) -> str:
    """Without the marks of code; the page shows a label as it is."""
    return text.replace("`", "")


def shown(line, value: Cell) -> str:
    if value.value is None or not math.isfinite(value.value):
        return "–"
    if isinstance(line, Line) and line.quantity in NANO:
        return duration(value.value * NANO[line.quantity])
    return number(value.value)


def measured(ours: Counterpart, device: "Measured", other: "Measured", xs: list,
             printed: list[list]) -> tuple[list[Row], list[str]]:
    """The lines of a table that a device has cells of, beside those of the CPU `other`; nothing if it measured none of them
    itself."""
    values = Values(ours, device.rows, device.info, {CPU: other.rows}, {"": device.failed, CPU: other.failed})
    lines, own = [], False
    for index, line in enumerate(ours.lines):
        try:
            cells = values.line(index, xs)
        except (KeyError, TypeError, ZeroDivisionError):  # limits that its file does not tell
            continue
        if all(one.value is None for one in cells):
            continue
        own |= isinstance(line, Line) and (not line.device or other is device)
        unit = "time" if isinstance(line, Line) and line.quantity in NANO else (
            "%" if isinstance(line, Compared) and line.percent else line.quantity if isinstance(line, Line) else "")
        label = f"{line.variant} {line.own} {line.device}".strip() if isinstance(line, Line) else line.what
        label, unit = (label, unit) if label else (unit, "")  # columns name the variants
        lines.append(Row(short(plain(label), 90), [shown(line, one) for one in cells], unit))
    if not own:
        return [], []
    for label, cells in values.faster(xs, printed):
        lines.append(Row(short(plain(label), 90), [number(one.value, 3) for one in cells], ""))
    return lines, [f"Without a time, {reason}: {plain('; '.join(cells))}." for reason, cells in values.reasons(xs).items()]


@dataclass
class Measured:
    """The rows of a device: those of `sweep --suite published`, of the others what it did not measure, why some gave no
    time, and what scripts/applications kept of whole commands."""

    name: str
    key: str
    info: dict
    rows: Rows
    failed: Rows
    applications: dict = field(default_factory=dict)

    @classmethod
    def load(cls, results: Path, exports: Path, device: Device) -> "Measured":
        rows = {name: rows_of(family, True) for name, family in device.families.items()}
        failed, info, apart = {}, device.info, results / "published" / device.key
        if apart.is_dir():
            found = load_device(apart, exports / "published" / device.key)
            info = info or found.info
            for name, family in found.families.items():
                rows[name] = newest(rows_of(family, True), rows.get(name, []))
                failed[name] = rows_of(family, False)
        try:
            applications = read_object(results / device.key / "applications.json")
        except (Unusable, OSError):
            applications = {}  # as if nothing had been run
        return cls(device.name, device.key, info, rows, failed, applications)


def cpu_of(results: Path, exports: Path) -> Measured | None:
    """The CPU that lines of a GPU's tables name: the one that the published suite was run on."""
    folders = sorted((results / "published").glob("cpu-*"))
    if not folders:
        return None
    return Measured.load(results, exports, load_device(folders[0], exports / "published" / folders[0].name))


def commands(identity: str, applications: dict, xs: list) -> list[Row]:
    """K14 and S3 are of whole commands."""
    if identity == "K14":
        runs = {run["rows"]: run for run in applications.get("runs", ()) if run["name"] == "knn" and run["exit_code"] == 0}
        if runs:
            known = [runs.get(x) for x in xs]
            return [Row("espalier knn, start to end", [duration(1e9 * run["seconds"]) if run else "–" for run in known], "time"),
                    Row("file size", [number(run["file_bytes"] / 1e6) if run else "–" for run in known], "MB")]
    copies = applications.get("device", {}).get("copies", {})
    if identity == "S3" and copies:
        return [Row(f"espalier doctor: {kind}", [number(copies[f"{kind}_{way}"] / 1e9) for way in ("to_device", "to_host")],
                    "GB/s") for kind in ("pageable", "pinned")]
    return []


def compare(printed: dict | None, ours: Counterpart | None, devices: list[Measured], cpu: Measured | None, why: str) -> Table:
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
        table.measured = [Group(f"{device.name} ({device.key})", rows, []) for device in devices
                          if (rows := commands(table.identity, device.applications, xs))]
        return table
    table.heading = plain(ours.heading())
    series = [entry["values"] for entry in printed["series"]] if printed else []
    for device in devices:
        other = device if device.key.startswith("cpu-") or cpu is None else cpu
        rows, reasons = measured(ours, device, other, xs, series)
        if rows:
            where = f"{device.name} ({device.key})"
            if other is not device and any(row.label.endswith(" CPU") for row in rows):
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
        found, cpu = [Measured.load(results, exports, device) for device in devices], cpu_of(results, exports)
        listed = [compare(table, ours.get(name), found, cpu, reasons.get(name, "")) for name, table in printed.items()]
        described = [compare(None, one, found, cpu, "") for one in ours.values() if one.own_columns]
        return listed + [table for table in described if table.measured], ""
    except (Unusable, OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        return [], f"{path.name}: not a table of published figures ({type(error).__name__}: {error})"
