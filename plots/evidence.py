"""Rows of results/ as the documents quote them: times, ratios and counters of single problems."""

import textwrap
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import columns
import regular_files
from regular_files import read_json


@dataclass
class Evidence:
    """The rows of one device that are right, by family."""

    folder: Path
    exports: Path  # its own
    device: dict = field(default_factory=dict)
    rows: dict[str, list[dict]] = field(default_factory=dict)
    swept: dict[str, list[dict]] = field(default_factory=dict)  # those without the published suite's
    profiled: dict[str, list[dict]] = field(default_factory=dict)  # those of them that have counters
    failed: dict[str, list[dict]] = field(default_factory=dict)  # the published suite's that gave no time
    applications: dict = field(default_factory=dict)  # what scripts/applications kept; empty if it has not run

    @classmethod
    def load(cls, folder: Path, exports: Path) -> "Evidence":
        """A device's folder below results/, its records as `espalier export` wrote them to the folder `exports`."""
        apart = exports / "published" / folder.name
        published, rows = right_rows(apart), right_rows(exports / folder.name)
        found = cls(folder, exports / folder.name, read_json(folder / "device.json")["device"],
                    {family: newest(published.get(family, []), rows.get(family, [])) for family in {**rows, **published}})
        found.failed = rows_of(apart, lambda status: status != "ok")
        if (folder / "applications.json").exists():
            found.applications = read_json(folder / "applications.json")
        found.swept = rows
        for family, rows in found.rows.items():
            found.profiled[family] = [row for row in rows if any(value for name, value in row.items() if "__" in name)]
        return found

    def find(self, family: str, variant: str, **features) -> list[dict]:
        """Rows of a variant ("" for any) whose problem has these features; the fastest configuration first."""
        return matching(self.rows.get(family, []), variant, features)

    def profile(self, family: str, variant: str, **features) -> list[dict]:
        """The same of rows that have counters."""
        return matching(self.profiled.get(family, []), variant, features)

    def time(self, family: str, variant: str, configuration: str = "", **features) -> float | None:
        """The fastest configuration's median in ns, of those that hold every part of `configuration`."""
        parts = set(configuration.split(";")) - {""}
        for row in self.find(family, variant, **features):
            if parts <= set(row["configuration"].split(";")):
                return float(row["time_ns"])
        return None

    def runs(self, name: str, **about) -> list[dict]:
        """Commands that scripts/applications ran to their end."""
        return [run for run in self.applications.get("runs", ())
                if run["name"] == name and run["exit_code"] == 0 and all(run.get(k) == v for k, v in about.items())]

    def counter(self, name: str, family: str, variant: str, **features) -> float | None:
        """A counter of the fastest configuration that has it."""
        for row in self.profile(family, variant, **features):
            if row.get(name):
                return float(row[name])
        return None


def rows_of(folder: Path, wanted: Callable[[str], bool]) -> dict[str, list[dict]]:
    """By family, those with a status that is wanted; none if there is no such folder."""
    rows = {}
    for path in sorted(folder.glob("*.csv")):
        with closing(regular_files.lines(path)) as lines:
            rows[path.stem] = [row for row in columns.rows(lines) if wanted(row["status"])]
    return rows


def right_rows(folder: Path) -> dict[str, list[dict]]:
    return rows_of(folder, lambda status: status == "ok")


def newest(published: list[dict], others: list[dict]) -> list[dict]:
    """Those of `sweep --suite published`, and of the others what it did not measure."""
    def case(row: dict) -> tuple:
        return row["variant"], row["problem"], row["configuration"]

    measured = {case(row) for row in published}
    return published + [row for row in others if case(row) not in measured]


def matching(rows: list[dict], variant: str, features: dict) -> list[dict]:
    wanted = {f"{name}={value}" for name, value in features.items()}
    found = [row for row in rows if variant in ("", row["variant"]) and wanted <= set(row["problem"].split(";"))]
    return sorted(found, key=columns.speed)


def ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or below is None else above / below


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


def table(header: list, rows: list[list]) -> str:
    lines = ["| " + " | ".join(str(cell) for cell in header) + " |", "| --- |" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def between(text: str, begin: str, end: str, body: str) -> str:
    """A page with what stands between its two markers renewed."""
    return text[:text.index(begin) + len(begin)] + "\n" + body.strip("\n") + "\n\n" + text[text.index(end):]
