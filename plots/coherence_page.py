"""The figures of docs/performance/coherent-sum.md: S1 to S5 of the coherent summation paper beside ours."""

from statistics import median

from evidence import Evidence, between, number, paragraph, table
from like_for_like import Values, matching, parts, rows_table
from published_page import in_brief, section
from published_tables import CPU, coherence_tables

RATE = 500  # Hz, and 1,920 receivers: what the source's real-time figures are for
RECEIVERS = 1920
BRIEF = ("S1", "S4", "S-fig7-8", "S-sums", "S-carve-out", "S-fig3", "S-rejected", "S-times", "S-cpu", "S-fig11")

BEGIN, END = "<!-- begin printed figures: plots/documents.py -->\n", "<!-- end printed figures -->"
HEAD = """S1 to S5 of the coherent summation paper are of cards of 2010 to 2012. Beside them stands the {name}:
the fastest configuration's median, kernels only, data on the device, caches cold, from `results/published/{key}/`, else
from `results/{key}/`. A dash was not measured. S3, S5 and S-fig10 are of [`espalier locate`](../locate.md) as a whole.
Three sizes are shown; `espalier report --published` has all."""


class CoherencePage:
    def __init__(self, published: dict, evidence: Evidence, cpu: Evidence):
        self.device = evidence.device
        self.evidence, self.cpu = evidence, cpu
        self.published = {entry["id"]: entry for entry in published["tables"]}
        self.tables = {ours.identity: ours for ours in coherence_tables()}

    def rows(self, variant: str, stated: str, *varied: str) -> list[dict]:
        """Distinct problems that have the features stated, and no others but the varied ones; the fastest row of each."""
        wanted, best = parts(stated), {}
        for row in self.evidence.find("coherent_sum", variant, **dict(part.split("=") for part in wanted)):
            if all(part in wanted or part.partition("=")[0] in varied for part in parts(row["problem"])):
                best.setdefault(row["problem"], row)
        return list(best.values())

    def base(self) -> dict | None:
        """S2's own problem by the source's best variant, in its fastest configuration."""
        wanted = parts(self.tables["S1"].parameters) | {"variant=global_cached"}
        return next(iter(matching(self.evidence.rows.get("coherent_sum", []), "global_cached", wanted)), None)

    @staticmethod
    def seconds(row: dict) -> float:
        return float(row["time_ns"]) * 1e-9

    @classmethod
    def additions_per_second(cls, row: dict) -> float:
        return float(row["additions"]) / cls.seconds(row)

    @staticmethod
    def shape(row: dict) -> str:
        return (f"{int(row['receivers']):,} receivers, {int(row['samples']):,} samples, {int(row['sources']):,} trial "
                f"sources")

    def like_for_like(self, identity: str) -> str:
        ours = self.tables[identity]
        values = Values(ours, self.evidence.rows, self.device, {CPU: self.cpu.rows},
                        {"": self.evidence.failed, CPU: self.cpu.failed})
        return section(ours, values, self.published.get(identity), 3).lstrip("\n")

    def others(self) -> str:
        """The tables that need no section, a row each."""
        rows = []
        for name in BRIEF:
            values = Values(self.tables[name], self.evidence.rows, self.device, {CPU: self.cpu.rows})
            about, *printed, ours = in_brief(values.table, values, self.published.get(name))
            if ours:
                rows.append([about, *(printed or [""]), ours])
        text = "### Other tables\n\nIn ms unless a line says otherwise.\n\n"
        return text + table(["table", "printed", self.device["name"]], rows, "---")

    def s2(self) -> str:
        printed = self.published["S2"]
        text = "### S2: " + printed["title"] + "\n\nPrinted for: " + printed["device"] + ".\n\n"
        row = self.base()
        series = {entry["name"]: entry["values"] for entry in printed["series"]}
        cells = [["printed: " + resource, rate, "–", f"{share}%"]
                 for resource, rate, share in zip(printed["x"]["values"], series["rate"], series["share_of_peak"])]
        if row:
            cells += [[f"**{name}**", rate, peak, f"{100 * share:.1f}%"] for name, rate, peak, share in self.shares(row)]
            if other := self.fastest("times_per_thread"):
                name, rate, peak, share = self.additions(other)
                name += f" by `times_per_thread`, {self.shape(other)}"
                cells.append([f"**{name}**", rate, peak, f"{100 * share:.1f}%"])
            if loads := self.sectors_per_load(row):
                cells.append(["**sectors per load of a trace, counted**", number(loads, 3), "–", "–"])
        text += table(["resource", "rate", "peak", "share"], cells)
        if row:
            text += "\n" + paragraph(
                f"Ours: `global_cached`, {self.shape(row)}, accesses counted from the code, peaks at the highest clock. Each "
                "addition of a warp takes two loads: 32 samples of a trace, across two lines of 128 bytes unless the delay is "
                "a multiple of 32, and the delay, which `times_per_thread` loads once for several times. L1 looks up one "
                "line per clock and multiprocessor.")
        return text

    @staticmethod
    def sectors_per_load(row: dict) -> float | None:
        """Of traces: a delay is one sector for a warp, and every other load is one."""
        loads, sectors = (row.get(f"l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum") for what in ("requests", "sectors"))
        return 2 * float(sectors) / float(loads) - 1 if loads and sectors else None

    def fastest(self, variant: str) -> dict | None:
        """The row with the most additions of one variant in S2's window."""
        stated = f"output=maximum;receivers={RECEIVERS};samples=15000;span=512"
        return max(self.rows(variant, stated, "sources"), key=lambda row: float(row["additions"]), default=None)

    def additions(self, row: dict) -> tuple[str, str, str, float]:
        # The ceiling counts a multiply-add as two operations; an addition fills one such slot.
        rate, peak = self.additions_per_second(row), self.device["fp32_per_second"] / 2
        return "additions", f"{rate / 1e9:,.0f} G/s", f"{peak / 1e9:,.0f} G/s", rate / peak

    def shares(self, row: dict) -> list[tuple[str, str, str, float]]:
        device = self.device
        additions = self.additions_per_second(row)
        clocks = device["sm_count"] * device["clock_khz"] * 1e3
        lines = additions / 32 * (2 * 31 / 32 + 1 / 32 + 1)
        dram = float(row["bytes"]) / self.seconds(row)
        loaded = additions * (4 + 4 / 32)  # a sample each, a delay per warp
        return [("lines from L1", f"{lines / 1e9:,.0f} G/s", f"{clocks / 1e9:,.0f} G/s", lines / clocks),
                ("bytes from L1", f"{loaded / 1e12:.1f} TB/s", f"{128 * clocks / 1e12:.1f} TB/s",
                 loaded / (128 * clocks)), self.additions(row),
                ("DRAM, at least", f"{dram / 1e9:,.1f} GB/s", f"{device['bytes_per_second'] / 1e9:,.0f} GB/s",
                 dram / device["bytes_per_second"])]

    def s3(self) -> str:
        printed = self.published["S3"]
        series = {entry["name"]: entry["values"] for entry in printed["series"]}
        copies = self.evidence.applications.get("device", {}).get("copies", {})
        text = "### S3: " + printed["title"] + "\n\nPrinted for: " + printed["device"] + ".\n\n"
        ours = [[f"**{kind}, GB/s**"] + [number(copies[f"{kind}_{way}"] / 1e9) if copies else "–"
                                         for way in ("to_device", "to_host")] for kind in ("pageable", "pinned")]
        text += table([""] + printed["x"]["values"],
                      [[f"printed: {kind}, GB/s"] + series[kind] for kind in ("pageable", "pinned")] + ours)
        if not copies:
            return text + "\n" + paragraph("Not measured: `scripts/applications` does, with `espalier doctor`.")
        return text + "\n" + paragraph("Ours: 256 MiB at a time, medians of five, by `espalier doctor`.") + self.overlap()

    def overlap(self) -> str:
        """What double buffering and page-locked memory are worth to a whole run."""
        runs = self.evidence.runs("overlap")
        if not runs:
            return ""
        names = ("seconds", "copy_seconds", "sum_seconds", "overlap")
        cells = []
        for how in sorted({run["how"] for run in runs}):
            reports = [run["report"] for run in runs if run["how"] == how]
            *shown, hidden = (median([one[name] for one in reports]) for name in names)
            cells.append([how, *map(number, shown), f"{100 * hidden:.0f}%"])
        text = paragraph(f"Their worth to `espalier locate`, {self.command(runs[0])}, medians of runs in random turns:")
        return f"\n{text}\n" + table(["double buffering and page-locked memory", "s in all", "copying", "summing", "hidden"],
                                   cells)

    @staticmethod
    def command(run: dict) -> str:
        report = run["report"]
        return (f"{report['record_seconds']:,.0f} s of {report['receivers']:,} receivers, {report['sources']:,} trial "
                f"sources, windows of {report['window']:,} samples")

    @classmethod
    def nodes(cls, row: dict) -> float:
        """Trial sources that it would sum in real time."""
        return int(row["sources"]) * int(row["samples"]) / RATE / cls.seconds(row)

    def best_windows(self, stated: str) -> list[dict]:
        """Of each length of window, on problems that have the stated features, the row that sums the most sources in real
        time."""
        best = {}
        measured = {row["problem"] for row in self.rows("global_cached", stated, "samples", "sources")}
        for row in self.rows("", stated, "samples", "sources"):
            # Too few to fill the device: their rate says nothing of large grids. And where the time did not suffice for
            # the baseline it did not for other good ones; it has no other precision than single.
            if int(row["sources"]) < 1000 or ("precision" not in stated and row["problem"] not in measured):
                continue
            if row["samples"] not in best or self.nodes(row) > self.nodes(best[row["samples"]]):
                best[row["samples"]] = row
        return [best[samples] for samples in sorted(best, key=float)]

    def s5(self) -> str:
        text = self.like_for_like("S5") + "\n#### The best lengths of windows\n"
        for features, what in (("delays=cube", "the nodes of a cube, which a real grid has"), ("", "random walks"),
                               ("delays=cube;precision=half", "a cube, in half precision, which the source does not have")):
            stated = f"output=maximum;receivers={RECEIVERS};span=512" + (";" + features if features else "")
            lines = []
            for row in sorted(self.best_windows(stated), key=self.nodes, reverse=True)[:3]:
                nodes, samples, sources = self.nodes(row), int(row["samples"]), int(row["sources"])
                lines.append((f"**`{row['variant']}`, `samples={samples};sources={sources}`**", row, [
                    f"{int(nodes ** (1 / 3) + 1e-9)}^3", number(self.seconds(row) * 1e3),
                    number(samples / RATE / self.seconds(row), 3)]))
            text += "\n" + rows_table(f"Delays of {what}: `{stated}`.", [
                "", "grid in real time", "ms", "real-time factor"], lines)
        text += "\n" + paragraph(
            f"The factor is measured, for that window at {RATE} Hz and that many trial sources; the grid has the product of "
            "both: extrapolated, though work is proportional to sources. Kernels only: reading and copying 3.84 MB for each "
            "second of record come on top, which double buffering hides.")
        return text + self.real_time()

    def real_time(self) -> str:
        """Whole runs of the command on grids around the largest one that keeps up."""
        runs = sorted(self.evidence.runs("real time"), key=lambda run: run["report"]["sources"])
        if not runs:
            return ""
        ran = ", ".join(f"`{name}`" for name in dict.fromkeys(run["report"]["ran"] for run in runs))
        text = "\n" + paragraph(
            f"The whole command with {ran}, reading, copying and summing {runs[0]['report']['record_seconds']:.0f} s of record "
            f"at {RATE} Hz and {RECEIVERS:,} receivers; travel times are computed before and not counted:") + "\n"
        return text + table(["grid", "s", "real-time factor"], [
            [f"{run['cube']}^3", number(run["report"]["seconds"]), number(run["report"]["real_time_factor"], 4)]
            for run in runs])

    def hours(self) -> str:
        """The source's figure 10: whether length costs anything. Each number of hours that was run, beside minutes."""
        minutes = self.evidence.runs("overlap", how="both")
        lengths = sorted({run["hours"] for run in self.evidence.runs("hours")})
        hour = [self.evidence.runs("hour")[-1:], *(self.evidence.runs("hours", hours=hours) for hours in lengths)]
        text = "### S-fig10: Records of 1 to 64 hours\n\n"
        if not any(hour):
            return text + paragraph("Not measured: `scripts/applications --parts locate` does.")
        text += paragraph(
            "`espalier locate`: reading, copying and summing; medians. A longer record takes more in proportion if the last "
            "column does not grow.") + "\n"
        cells = []
        for runs in filter(None, (minutes, *hour)):
            middle = {name: median(run["report"][name] for run in runs)
                      for name in ("seconds", "record_seconds", "sources", "real_time_factor", "overlap")}
            cells.append([self.command(runs[0]), number(middle["seconds"]), f"{middle['real_time_factor']:,.0f}",
                          f"{100 * middle['overlap']:.0f}%",
                          f"{max(run['peak_resident_bytes'] for run in runs) / 1e6:,.0f}",
                          number(1e9 * middle["seconds"] / middle["record_seconds"] / middle["sources"])])
        return text + table(["record", "s", "times real time", "reading and copying hidden", "largest resident set, MB",
                             "ns per trial source and second of record"], cells)

    def text(self) -> str:
        head = paragraph(HEAD.format(name=self.device["name"], key=self.device["key"]))
        return "\n".join([head, self.s2(), self.s3(), self.s5(), self.hours(), self.others()])


def with_printed_figures(text: str, published: dict, evidence: Evidence, cpu: Evidence) -> str:
    """The page with its tables renewed, between two markers."""
    return between(text, BEGIN, END, CoherencePage(published, evidence, cpu).text())
