"""The figures of docs/performance/coherent-sum.md: S1 to S5 of the coherent summation paper beside ours."""

from statistics import median

from evidence import Evidence, between, number, paragraph, table
from like_for_like import Values, matching, parts
from published_page import described, section
from published_tables import coherence_tables

RATE = 500  # Hz, and 1,920 receivers: what the source's real-time figures are for
RECEIVERS = 1920

LENGTHS = (1, 2, 4, 8, 16, 32, 64)  # hours of record of the source's figures 7, 8 and 10


BEGIN, END = "<!-- begin printed figures: plots/documents.py -->\n", "<!-- end printed figures -->"
HEAD = """`results/published/tables.json` holds the figures S1 to S5 of the coherent summation paper, for cards of 2010 to 2012.
Below they stand beside the {name}: the fastest configuration's median, kernels only, data on the device, caches cold,
from `results/published/{key}/` and, for cases that the published suite does not have, from
`results/{key}/`. A dash is a problem or a counter that is not among the committed rows. S3, S5 and S-fig10
measure [`espalier locate`](../locate.md) as a whole, reading and copying included: `applications.json` there, which
`scripts/applications` writes.
"""


class CoherencePage:
    def __init__(self, published: dict, evidence: Evidence):
        self.device = evidence.device
        self.evidence = evidence
        self.published = {entry["id"]: entry for entry in published["tables"]}
        self.tables = {ours.identity: ours for ours in coherence_tables()}

    def rows(self, variant: str = "", **features) -> list[dict]:
        """Distinct problems that keep the maximum only, the fastest row of each."""
        best = {}
        for row in self.evidence.find("coherent_sum", variant, output="maximum", **features):
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
        values = Values(ours, self.evidence.rows, self.device, failed={"": self.evidence.failed})
        return "#" + section(ours, values, self.published.get(identity)).lstrip("\n")

    def unprinted(self, identity: str) -> str:
        ours = self.tables[identity]
        return described(ours, Values(ours, self.evidence.rows, self.device, failed={"": self.evidence.failed})).lstrip("\n")

    def s2(self) -> str:
        printed = self.published["S2"]
        text = "### S2: " + printed["title"] + "\n\nPrinted for: " + printed["device"] + ".\n\n"
        row = self.base()
        series = {entry["name"]: entry["values"] for entry in printed["series"]}
        cells = [["printed: " + resource, rate, "–", f"{share}%"]
                 for resource, rate, share in zip(printed["x"]["values"], series["rate"], series["share_of_peak"])]
        if row:
            cells += [[f"**{name}**", rate, peak, f"{100 * share:.1f}%"] for name, rate, peak, share in self.shares(row)]
        text += table(["resource", "rate", "peak", "share"], cells)
        if row:
            text += "\n" + paragraph(
                f"Ours: `global_cached`, {self.shape(row)}. Additions and DRAM are far from their limits; nearest to its "
                "limit is the load path into L1. Each addition of a warp takes two loads: 32 samples of a trace, which "
                "lie across two 128-byte lines wherever the delay is no multiple of 32 samples, and the delay itself, "
                "the same for all threads. L1 looks up one line per clock and multiprocessor. The accesses are counted "
                f"from the code{self.sectors_counted(row)}. The peak is taken at the highest clock: if the device ran "
                "slower, the share is larger. Fewer loads per addition would lift this bound: " +
                self.fewer_loads())
        return text

    @staticmethod
    def sectors_counted(row: dict) -> str:
        """A delay is one sector for a warp, and every other load is one."""
        loads, sectors = (row.get(f"l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum") for what in ("requests", "sectors"))
        if not loads or not sectors:
            return ""
        return f"; the counters agree with {number(2 * float(sectors) / float(loads) - 1, 3)} sectors per load of a trace"

    def fewer_loads(self) -> str:
        row = self.fastest("times_per_thread")
        if not row:
            return ("`times_per_thread` loads a delay once for several times; it is not among the committed rows of this "
                    "number of receivers.")
        return (f"`times_per_thread`, which loads a delay once for several times, reaches "
                f"{number(self.additions_per_second(row) / 1e9)} G additions/s with {self.shape(row)}.")

    def fastest(self, variant: str) -> dict | None:
        """The row with the most additions of one variant at the paper's number of receivers."""
        return max(self.rows(variant, receivers=RECEIVERS), key=lambda row: float(row["additions"]), default=None)

    def shares(self, row: dict):
        device = self.device
        additions = self.additions_per_second(row)
        clocks = device["sm_count"] * device["clock_khz"] * 1e3
        lines = additions / 32 * (2 * 31 / 32 + 1 / 32 + 1)
        dram = float(row["bytes"]) / self.seconds(row)
        # The ceiling counts a multiply-add as two operations; an addition fills one such slot.
        fp32 = device["fp32_per_second"] / 2
        loaded = additions * (4 + 4 / 32)  # a sample each, a delay per warp
        return [("lines from L1 (nearest to its limit)", f"{lines / 1e9:,.0f} G/s", f"{clocks / 1e9:,.0f} G/s", lines / clocks),
                ("bytes from L1", f"{loaded / 1e12:.1f} TB/s", f"{128 * clocks / 1e12:.1f} TB/s",
                 loaded / (128 * clocks)),
                ("additions", f"{additions / 1e9:,.0f} G/s", f"{fp32 / 1e9:,.0f} G/s", additions / fp32),
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
        report = runs[0]["report"]
        text = "\n" + paragraph(
            f"Their worth to `espalier locate`: {report['record_seconds']:.0f} s of record of "
            f"{report['receivers']:,} receivers, {report['sources']:,} trial sources, windows of {report['window']:,} samples; "
            "medians of the runs, in random turns.") + "\n"
        cells = []
        for how in sorted({run["how"] for run in runs}):
            reports = [run["report"] for run in runs if run["how"] == how]
            middle = {name: median([one[name] for one in reports])
                      for name in ("seconds", "read_seconds", "copy_seconds", "sum_seconds", "copy_gb_per_s", "overlap")}
            cells.append([how, f"{len(reports)}", number(middle["seconds"]), number(middle["read_seconds"]),
                          number(middle["copy_seconds"]), number(middle["sum_seconds"]), number(middle["copy_gb_per_s"], 3),
                          f"{100 * middle['overlap']:.0f}%"])
        return text + table(["double buffering and page-locked memory", "runs", "s in all", "reading", "copying", "summing",
                             "GB/s copied", "hidden"], cells)

    @classmethod
    def nodes(cls, row: dict) -> float:
        """Trial sources that it would sum in real time."""
        return int(row["sources"]) * int(row["samples"]) / RATE / cls.seconds(row)

    def s5(self) -> str:
        printed = self.published["S5"]
        rows = {}
        measured = {row["problem"] for row in self.rows("global_cached", receivers=RECEIVERS)}
        for row in self.rows("", receivers=RECEIVERS):
            shape = (int(row["samples"]), int(row["sources"]))
            # Too few to fill the device: their rate says nothing of large grids. And where the time did not suffice for
            # the baseline it did not for other good ones.
            if shape[1] < 1000 or row["problem"] not in measured:
                continue
            if shape not in rows or self.seconds(row) < self.seconds(rows[shape]):
                rows[shape] = row
        best = {}  # of each length of window the one that sums the most sources in real time
        for shape, row in rows.items():
            if shape[0] not in best or self.nodes(row) > self.nodes(best[shape[0]]):
                best[shape[0]] = row
        text = self.like_for_like("S5")
        text += "\n#### The best of each length of window\n\n"
        cells = [[f"printed: {device}", number(grid), f"{round(grid ** (1 / 3))}^3", "–", "–"]
                 for device, grid in zip(printed["x"]["values"], printed["series"][0]["values"])]
        for samples, row in sorted(best.items()):
            nodes, sources = self.nodes(row), int(row["sources"])
            cube = " of a cube" if row.get("delays") == "cube" else ""
            cells.append([f"**{samples:,} samples, {sources:,} sources{cube}: `{row['variant']}`**",
                          number(float(int(nodes)), 3),
                          f"{int(nodes ** (1 / 3) + 1e-9)}^3", number(self.seconds(row) * 1e3),
                          number(samples / RATE / self.seconds(row), 3)])
        text += table(["", "trial sources in real time", "cubic grid", "ms", "real-time factor"], cells)
        text += "\n" + paragraph(
            f"The factor is measured, for a window of that many samples at {RATE} Hz and that many trial sources; the "
            "number of sources in real time is the product of both: extrapolated, though work is proportional to sources. "
            "Delays are of the nodes of a cube where it says so, which a real grid has, else of random walks. Kernels only: "
            "reading and copying 3.84 MB for each second of record come on top, which double buffering hides.")
        return text + self.real_time()

    def real_time(self) -> str:
        """Whole runs of the command on grids around the largest one that keeps up."""
        runs = sorted(self.evidence.runs("real time"), key=lambda run: run["report"]["sources"])
        if not runs:
            return ""
        in_time = [run["report"] for run in runs if run["report"]["real_time_factor"] >= 1]
        text = "\n" + paragraph(
            "Measured with the whole command, reading, copying and summing " + f"{runs[0]['report']['record_seconds']:.0f} s of "
            f"record at {RATE} Hz and {RECEIVERS:,} receivers; travel times are computed before and not counted:") + "\n"
        cells = [[f"{run['cube']}^3", number(float(run["report"]["sources"]), 7), number(run["report"]["seconds"]),
                  number(run["report"]["real_time_factor"], 4), f"`{run['report']['ran']}`"] for run in runs]
        text += table(["grid", "trial sources", "s", "real-time factor", "variant"], cells)
        if in_time:
            most = max(in_time, key=lambda report: report["sources"])
            text += "\n" + paragraph(f"The largest cubic grid that kept up has {most['sources']:,} trial sources.")
        return text

    def hours(self) -> str:
        """The source's figure 10, of which an hour was run; the longer ones follow if length costs nothing."""
        runs = self.evidence.runs("hour")
        text = "### S-fig10: Records of 1 to 64 hours\n\n"
        if not runs:
            return text + paragraph("Not measured: `scripts/applications --parts locate` does.")
        run, report = runs[-1], runs[-1]["report"]
        gigabytes = 4e-9 * report["receivers"] * report["samples"]
        text += paragraph(
            f"`espalier locate`, {report['receivers']:,} receivers at {RATE} Hz, {report['sources']:,} trial sources, windows of "
            f"{report['window']:,} samples: reading, copying and summing.") + "\n"
        per_hour = report["seconds"] / (report["record_seconds"] / 3600)
        text += table(["hours of record", *map(str, LENGTHS)],
                      [["GB of record", *(number(gigabytes * hours, 4) for hours in LENGTHS)],
                       ["**s, measured**", number(report["seconds"]), *["–"] * (len(LENGTHS) - 1)],
                       ["s, in proportion to the hour", "–", *(number(per_hour * hours) for hours in LENGTHS[1:])]])
        text += "\n" + paragraph(
            f"The hour: {report['real_time_factor']:,.0f} times real time, {100 * report['overlap']:.0f}% of reading and copying "
            f"hidden, largest resident set {run['peak_resident_bytes'] / 1e6:,.0f} MB.{self.minutes(report)} Longer records do "
            f"not fit the disk of the machine that was measured.")
        return text

    def minutes(self, hour: dict) -> str:
        """Whether a record's length costs anything: five minutes beside the hour, per trial source and second of record."""
        short = self.evidence.runs("overlap", how="both")
        if not short:
            return ""

        def cost(report: dict) -> float:
            return report["seconds"] / report["record_seconds"] / report["sources"]

        minutes = median(cost(run["report"]) for run in short)
        resident = max(run["peak_resident_bytes"] for run in short)
        dearer = cost(hour) / minutes - 1
        verdict = ("windows are independent, and their number costs nothing besides" if dearer < 0.05
                   else "longer records cost more than in proportion")
        return (f" Per trial source and second of record it takes {number(100 * abs(dearer), 2)}% "
                f"{'more' if dearer > 0 else 'less'} than the {short[0]['report']['record_seconds']:.0f} s of record of S3, whose "
                f"largest resident set is {resident / 1e6:,.0f} MB: {verdict}.")

    def text(self) -> str:
        head = HEAD.format(name=self.device["name"], key=self.device["key"])
        return "\n".join([head, self.like_for_like("S1"), self.s2(), self.s3(),
                          self.like_for_like("S4"), *map(self.unprinted, ("S-sums", "S-carve-out")), self.s5(), self.hours()])


def with_printed_figures(text: str, published: dict, evidence: Evidence) -> str:
    """The page with its tables renewed, between two markers."""
    return between(text, BEGIN, END, CoherencePage(published, evidence).text())
