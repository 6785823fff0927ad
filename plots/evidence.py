"""Rows of results/ as the documents quote them: times, ratios and counters of single problems."""

import math
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import columns
from results import Choice, Device, Family, Unusable, load_device, read_object

Rows = dict[str, list[dict]]  # by family


def rows_of(family: Family, wanted: bool) -> list[dict]:
    """Cases that are right, or those that gave no time, with everything that a quantity is computed from."""
    found = []
    for case in family.cases:
        if (case.status == "ok") != wanted:
            continue
        row = {"variant": case.variant, "role": case.role, "problem": case.problem, "configuration": case.configuration,
               "status": case.status, "reason": case.reason, "time_ns": case.time, "bytes": case.bytes, "ops": case.ops,
               "disturbed": case.disturbed, "stages": case.stages}
        if math.isfinite(case.transfer):
            row["transfer_ns"] = case.transfer
        found.append(row | family.complete(case.problem) | case.counters)
    return found


@dataclass
class Evidence:
    """The rows of one device that are right: those of `sweep --suite published`, else those of other sweeps."""

    name: str
    key: str
    device: dict
    rows: Rows = field(default_factory=dict)
    swept: Rows = field(default_factory=dict)  # those without the published suite's
    unseen: Rows = field(default_factory=dict)
    failed: Rows = field(default_factory=dict)  # the published suite's that gave no time
    chosen: dict[str, dict[str, Choice]] = field(default_factory=dict)  # by family and problem, swept or unseen
    applications: dict = field(default_factory=dict)  # what scripts/applications kept; empty if it has not run

    @classmethod
    def of(cls, results: Path, exports: Path, device: Device) -> "Evidence":
        """A device's, its records as `espalier export` wrote them to the folder `exports`."""
        found = cls(device.name, device.key, device.info)
        found.swept, found.unseen = ({name: rows_of(family, True) for name, family in families.items()}
                                     for families in (device.families, device.unseen))
        found.chosen = {name: family.choices | (device.unseen[name].choices if name in device.unseen else {})
                        for name, family in device.families.items()}
        found.rows, apart = dict(found.swept), results / "published" / device.key
        if apart.is_dir():
            suite = load_device(apart, exports / "published" / device.key)
            found.device = device.info or suite.info
            for name, family in suite.families.items():
                found.rows[name] = newest(rows_of(family, True), found.swept.get(name, []))
                found.failed[name] = rows_of(family, False)
        try:
            found.applications = read_object(results / device.key / "applications.json")
        except (Unusable, OSError):
            pass  # as if nothing had been run
        return found

    @classmethod
    def load(cls, folder: Path, exports: Path) -> "Evidence":
        device = load_device(folder, exports / folder.name)
        if device.errors:
            raise Unusable("; ".join(device.errors))
        return cls.of(folder.parent, exports, device)

    def find(self, family: str, variant: str, **features) -> list[dict]:
        """Rows of a variant ("" for any) whose problem has these features; the fastest configuration first."""
        return matching(self.rows.get(family, []), variant, features)

    def runs(self, name: str, **about) -> list[dict]:
        """Commands that scripts/applications ran to their end."""
        return [run for run in self.applications.get("runs", ())
                if run["name"] == name and run["exit_code"] == 0 and all(run.get(k) == v for k, v in about.items())]


def newest(published: list[dict], others: list[dict]) -> list[dict]:
    """Those of `sweep --suite published`, and of the others what it did not measure."""
    def case(row: dict) -> tuple:
        return row["variant"], row["problem"], row["configuration"]

    measured = {case(row) for row in published}
    return published + [row for row in others if case(row) not in measured]


def matching(rows: list[dict], variant: str, features: dict) -> list[dict]:
    """Without rows whose configuration pins stages, which only a table that names them means."""
    wanted = {f"{name}={value}" for name, value in features.items()}
    found = [row for row in rows if variant in ("", row["variant"]) and "." not in row["configuration"]
             and wanted <= set(row["problem"].split(";"))]
    return sorted(found, key=columns.speed)


def number(value, digits: int = 4) -> str:
    """A figure for a table; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}e}"
    text = f"{value:,.{digits}g}"
    return f"{value:,.0f}" if "e" in text else text


def paragraph(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def table(header: list, rows: list[list], others: str = "---:") -> str:
    """`others`: how the columns after the first are aligned."""
    lines = ["| " + " | ".join(str(cell) for cell in header) + " |", "| --- |" + f"{others}|" * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def between(text: str, begin: str, end: str, body: str) -> str:
    """A page with what stands between its two markers renewed."""
    return text[:text.index(begin) + len(begin)] + "\n" + body.strip("\n") + "\n\n" + text[text.index(end):]
