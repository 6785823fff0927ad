"""Tables that set printed figures beside measured ones: what each is of, as data, and the rows that its cells come from.

A cell's parameters are those of its table's heading, of its line and of its column: "name=value" of the problem's axes and
of the configuration's settings. It is taken from the fastest row whose problem is exactly that one, no axis left open, and
whose configuration has those settings. Where there is none it is a dash. A configuration that pins its stages is meant only
by a cell that names them. Tables of rows that are found otherwise are `rows_table`'s, which refuses a row with a feature
that the table does not state.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import columns
from evidence import paragraph, table

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
NANO = {"ms": 1e6, "s": 1e9, "µs": 1e3}


@lru_cache(maxsize=1 << 16)
def parts(text: str) -> frozenset[str]:
    """"a=1;b=2" as a set; a configuration of a variant without settings has none."""
    return frozenset(part for part in text.split(";") if part and part != "default")


def from_time(unit: str) -> Callable[[dict], float]:
    return lambda row: float(row["time_ns"]) / NANO[unit]


def with_transfers(row: dict) -> float:
    return (float(row["time_ns"]) + float(row["transfer_ns"])) / NANO["ms"]


def per_second(amount: Callable[[dict], float]) -> Callable[[dict], float]:
    return lambda row: amount(row) / float(row["time_ns"]) * 1e9


def counter(name: str, unit: float = 1) -> Callable[[dict], float]:
    return lambda row: float(row[name]) / unit


def dram_rate(row: dict) -> float:
    """Bytes per ns, which are GB/s."""
    return sum(float(row[f"dram__bytes_{way}.sum"]) for way in ("read", "write")) / float(row["time_ns"])


def l1_hits(row: dict) -> float:
    """As counted; else of the sectors that global loads ask for, those that L2 was not asked for."""
    if "l1tex__t_sector_hit_rate.pct" in row:
        return float(row["l1tex__t_sector_hit_rate.pct"])
    return 100 * (1 - float(row["lts__t_sectors_srcunit_tex_op_read.sum"])
                  / float(row["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]))


def l1_rate(row: dict) -> float:
    """Of the sectors of 32 bytes that global loads and texture reads ask L1 for, in GB/s."""
    sectors = sum(float(row[f"l1tex__t_sectors_pipe_{pipe}.sum"]) for pipe in ("lsu_mem_global_op_ld", "tex_mem_texture"))
    return 32 * sectors / float(row["time_ns"])


QUANTITIES: dict[str, Callable[[dict], float]] = {
    **{unit: from_time(unit) for unit in NANO},
    "ms with transfers": with_transfers,
    "ms of transfers": lambda row: float(row["transfer_ns"]) / NANO["ms"],
    "GB/s of DRAM": dram_rate,
    "GB/s of sectors read from L1": l1_rate,
    "warp instructions": counter("smsp__inst_executed.sum"),
    "occupancy reached, %": counter("sm__warps_active.avg.pct_of_peak_sustained_active"),
    "bank conflicts, thousand": counter(CONFLICTS, 1e3),
    "L1 hits, %": l1_hits,
    "sectors read from L2, billion": counter("lts__t_sectors_srcunit_tex_op_read.sum", 1e9),
    "GB read from DRAM": counter("dram__bytes_read.sum", 1e9),
    "million sums/s": per_second(lambda row: 1e-6 * float(row["sources"]) * float(row["samples"])),
    "real-time factor at 500 Hz": per_second(lambda row: float(row["samples"]) / 500),
    "DRAM, % of peak": counter("dram__throughput.avg.pct_of_peak_sustained_elapsed"),
    "SM, % of peak": counter("sm__throughput.avg.pct_of_peak_sustained_elapsed"),
    "cycles with an issue, %": counter("smsp__issue_active.avg.pct_of_peak_sustained_active"),
    **{f"{pipe} pipe, %": counter(f"sm__inst_executed_pipe_{pipe.lower()}.avg.pct_of_peak_sustained_active")
       for pipe in ("ALU", "FMA", "XU")},
    "wavefronts of shared memory per value": lambda row: float(row[WAVEFRONTS]) / float(row["values"]),
    "of them bank conflicts, %": lambda row: 100 * float(row[CONFLICTS]) / max(1.0, float(row[WAVEFRONTS])),
    "G additions/s": per_second(lambda row: 1e-9 * float(row["additions"])),
}


@dataclass(frozen=True)
class Line:
    """A measured quantity of one variant, "" where columns name theirs. A line may name parameters of its own, and
    another device than the table's."""

    variant: str
    quantity: str
    own: str = ""
    device: str = ""
    by_column: Mapping = field(default_factory=dict)  # a column's own quantity, where that is what columns are

    def label(self) -> str:
        of = [code(name) for name in (self.variant, self.own) if name] + [self.device] * bool(self.device)
        return ", ".join(of) + (": " if of else "") + self.quantity


@dataclass(frozen=True)
class Compared:
    """Line `above` over line `below`, as a ratio or as percent more. Both by their place among the table's lines."""

    what: str
    above: int
    below: int
    percent: bool = False

    def label(self) -> str:
        return self.what + (", %" if self.percent else "")


@dataclass(frozen=True)
class Share:
    """How much of what `whole` takes longer than `least` is gone in `part`, in percent: three lines by their places."""

    what: str
    part: int
    whole: int
    least: int

    def label(self) -> str:
        return self.what + ", %"


@dataclass(frozen=True)
class Computed:
    """Follows from the device's limits, of which `what` says which; no row is needed."""

    what: str
    function: Callable[[float, dict], float]

    def label(self) -> str:
        return self.what


@dataclass(frozen=True)
class Table:
    """The counterpart of a printed table.

    `columns` turns a column into parameters: "dims={x}", or a mapping where a column is more than a number. `own_columns`
    are ours for tables that print no series. Of `faster`, a line of a time, by its place, and the printed series of the
    same unit that it is set beside.
    """

    identity: str
    family: str
    parameters: str
    columns: str | Mapping
    lines: tuple
    faster: tuple[tuple[int, int], ...] = ()
    remark: str = ""
    title: str = ""
    own_columns: tuple = ()
    suite: str = ""  # the suite's name for its cases, if that is another table's
    on_page: tuple[int, ...] = ()  # the lines that committed pages show, if not all; the report shows all

    def of_column(self, x) -> str:
        if isinstance(self.columns, str):
            return self.columns.format(x=x)
        return self.columns[x]

    def heading(self) -> str:
        """What its cells have in common and what its columns are, in words that the cells are checked against."""
        text = f"Measured: {self.family}, " + (code(self.parameters) if self.parameters else "nothing in common")
        if isinstance(self.columns, str):
            return text + f"; a column is {code(self.columns.format(x='x'))}."
        named = [f"{x}: {code(of)}" for x, of in self.columns.items() if of]
        return text + ("; a column is " + ", ".join(named) if named else "") + "."


@dataclass
class Cell:
    value: float | None = None
    rows: list[dict] = field(default_factory=list)  # that the value was computed from


def code(text: str) -> str:
    return f"`{text}`"


def pins(row: dict) -> frozenset[str]:
    """The settings that pin its stages: "distance.texture_1d=1"."""
    return frozenset(part for part in parts(row["configuration"]) if "." in part.partition("=")[0])


class MixedFeatures(ValueError):
    """A table would show a row with a feature that it does not state, or state one that the row does not have."""


def stated_in(text: str) -> frozenset[str]:
    """The parameters that a text names: "name=value" in marks of code."""
    return frozenset(part for span in re.findall("`([^`]*)`", text) for part in parts(span) if "=" in part)


def rows_table(heading: str, header: list, lines: list[tuple[str, dict, list]]) -> str:
    """A table of whole rows below its heading. A line is a label, the row that its cells are of, and the cells. Throws
    MixedFeatures unless heading and label name exactly the features of the row's problem, its pinned stages, and else only
    settings that it has."""
    for label, row, _ in lines:
        stated, problem = stated_in(heading) | stated_in(label), parts(row["problem"]) | pins(row)
        named = problem | parts(row["configuration"]) | {f"variant={row['variant']}"}
        if unnamed := problem - stated:
            raise MixedFeatures(f"{label}: its row has {', '.join(sorted(unnamed))}, of which the table says nothing")
        if others := stated - named:
            raise MixedFeatures(f"{label}: its row does not have {', '.join(sorted(others))}")
    return paragraph(heading) + "\n" + table(header, [[label, *cells] for label, _, cells in lines])


def matching(rows: list[dict], variant: str, wanted: frozenset[str]) -> list[dict]:
    """Rows of the variant on exactly that problem, the fastest first."""
    found = []
    for row in rows:
        problem = parts(row["problem"])
        named = problem | parts(row["configuration"]) | {f"variant={row['variant']}"}
        if variant in ("", row["variant"]) and problem | pins(row) <= wanted <= named:
            found.append(row)
    return sorted(found, key=columns.speed)


def measured(row: dict, quantity: str) -> float | None:
    try:
        return QUANTITIES[quantity](row)
    except (KeyError, ValueError, TypeError):
        return None  # without counters, or from before the column


class Values:
    """The cells of one table on one device; `others` are the rows of the devices that lines name."""

    def __init__(self, table: Table, rows: Mapping[str, list[dict]], device: dict, others: Mapping[str, Mapping] = {},
                 failed: Mapping[str, Mapping] = {}):
        """`failed` has by device, as `others`, the rows of cases that gave no time."""
        self.table, self.device, self.failed = table, device, failed
        self.rows: dict[tuple[str, str], list[dict]] = {}  # by device and variant
        for name, found in {"": rows, **others}.items():
            for row in found.get(table.family, []):
                self.rows.setdefault((name, row["variant"]), []).append(row)

    def wanted(self, line: Line, x) -> frozenset[str]:
        return parts(self.table.parameters) | parts(self.table.of_column(x)) | parts(line.own)

    def cell(self, index: int, x) -> Cell:
        line = self.table.lines[index]
        if isinstance(line, Computed):
            return Cell(line.function(x, self.device))
        if isinstance(line, Share):
            part, whole, least = (self.cell(place, x) for place in (line.part, line.whole, line.least))
            if None in (part.value, whole.value, least.value) or whole.value <= least.value:
                return Cell()
            share = (whole.value - part.value) / (whole.value - least.value)
            return Cell(100 * share, part.rows + whole.rows + least.rows)
        if isinstance(line, Compared):
            above, below = self.cell(line.above, x), self.cell(line.below, x)
            if above.value is None or not below.value:
                return Cell()
            ratio = above.value / below.value
            return Cell(100 * (ratio - 1) if line.percent else ratio, above.rows + below.rows)
        wanted = self.wanted(line, x)
        variant = line.variant or next(part.partition("=")[2] for part in wanted if part.startswith("variant="))
        for row in matching(self.rows.get((line.device, variant), []), variant, wanted):
            value = measured(row, line.by_column.get(x, line.quantity))
            if value is not None:
                return Cell(value, [row])
        return Cell()

    def line(self, index: int, xs: list) -> list[Cell]:
        return [self.cell(index, x) for x in xs]

    def faster(self, xs: list, printed: list[list]) -> list[tuple[str, list[Cell]]]:
        """How many times as fast as printed: a label and cells for each line that is set beside a printed series."""
        found = []
        for index, series in self.table.faster:
            cells = [Cell(before / cell.value, cell.rows) if cell.value and isinstance(before, (int, float)) else Cell()
                     for before, cell in zip(printed[series], self.line(index, xs))]
            line = self.table.lines[index]
            label = ", ".join(code(of) for of in (line.variant, line.own) if of)
            found.append((f"{label}: times as fast as printed", cells))
        return found

    def shown(self, xs: list) -> list[int]:
        """The lines that a committed page shows, by their places: those of them that have a cell."""
        return [index for index in self.table.on_page or range(len(self.table.lines))
                if any(cell.value is not None for cell in self.line(index, xs))]

    def stages(self, xs: list) -> dict[str, list[str]]:
        """By the variants that ran as stages, the lines shown that had them; of rows that name them, and of lines that do
        not."""
        found: dict[str, list[str]] = {}
        for index in self.shown(xs):
            line = self.table.lines[index]
            if not isinstance(line, Line) or "." in line.own:
                continue
            for stages in dict.fromkeys(row["stages"] for x in xs for row in self.cell(index, x).rows if row.get("stages")):
                found.setdefault(stages, []).append(", ".join(code(of) for of in (line.variant, line.own) if of))
        return found

    def reasons(self, xs: list, lines: list[int] | None = None) -> dict[str, list[str]]:
        """Why cells are empty, where their cases were tried: reasons, and which cells of these lines have each; by default
        of all."""
        found: dict[str, list[str]] = {}
        for index in range(len(self.table.lines)) if lines is None else lines:
            line = self.table.lines[index]
            if not isinstance(line, Line):
                continue
            for x in xs:
                if self.cell(index, x).value is not None:
                    continue
                wanted = self.wanted(line, x)
                for row in self.failed.get(line.device, {}).get(self.table.family, []):
                    named = parts(row["problem"]) | parts(row["configuration"]) | {f"variant={row['variant']}"}
                    if line.variant in ("", row["variant"]) and parts(row["problem"]) | pins(row) <= wanted <= named:
                        cells = found.setdefault(f"{row['status'].replace('_', ' ')} ({row['reason']})", [])
                        name = ", ".join(code(part) for part in (row["variant"], line.own) if part)
                        cells.append(f"{name} at {f'{x:,}' if isinstance(x, int) else x}")
                        break
        return found


