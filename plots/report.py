#!/usr/bin/python3
"""Writes the report of everything below a results folder: one self-contained HTML page, and each figure as a file.

usage: report.py --results FOLDER --output FOLDER [--device KEY]...
Exit codes as those of the command line: 0 fine, 2 usage, 4 bad data.
"""

import argparse
import math
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

try:
    import jinja2
    import matplotlib.pyplot as plt
    from markupsafe import Markup, escape
except ImportError as error:
    sys.exit(f"report: {error.name} is missing. Install it: apt-get install python3-matplotlib python3-jinja2")

import axes as planning
import figures
import published
import results
import theme
import trees
from figures import duration, short
from replaced import exit_on_signals, replaced

HERE = Path(__file__).resolve().parent


@dataclass
class Figure:
    title: str
    caption: str
    svg: Markup
    file: str  # without ending, relative to the page


@dataclass
class Section:
    """One family on one device."""

    family: results.Family
    anchor: str
    styles: figures.Styles
    figures: list[Figure] = field(default_factory=list)
    ranking: list[dict] = field(default_factory=list)
    problems: list[dict] = field(default_factory=list)
    tree_text: str = ""
    tree_complaint: str = ""
    merit: dict = field(default_factory=dict)


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:60].strip(".-") or "unnamed"


class Drawing:
    """Saves figures as files and keeps them for the page."""

    def __init__(self, output: Path):
        self.folder = output / "figures"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.names: set[str] = set()

    def keep(self, figure, name: str, title: str, caption: str) -> Figure:
        while name in self.names:
            name += "_"
        self.names.add(name)
        svg = theme.svg_text(figure)
        with replaced(self.folder / f"{name}.svg") as file:
            file.write_text('<?xml version="1.0" encoding="utf-8"?>\n' + svg, encoding="utf-8")
        with replaced(self.folder / f"{name}.png") as file:
            figure.savefig(file, dpi=160, format="png")
        plt.close(figure)
        inlined = theme.inline(svg, name, str(escape(f"{title}. {caption}")))
        return Figure(title, caption, Markup(inlined), f"figures/{name}")


def ranking(family: results.Family, styles: figures.Styles) -> list[dict]:
    """One row per variant: how often it wins and how far it lies behind otherwise."""
    slowdowns = family.slowdowns()
    wins = Counter(case.variant for problem in family.features if (case := family.winner(problem)))
    rows = []
    for variant, role in family.roles().items():
        own = [case for case in family.cases if case.variant == variant]
        values = slowdowns.get(variant, [])
        rows.append(
            {
                "variant": variant,
                "role": role,
                "colour": styles.css(variant),
                "wins": wins[variant],
                "problems": len(values),
                "mean": results.geometric_mean(values),
                "p90": results.quantile(values, 0.9),
                "worst": max(values, default=math.nan),
                "configurations": len({case.configuration for case in own}),
                "not_ok": {status: n for status in results.STATUSES[1:]
                           if (n := sum(case.status == status for case in own))},
            }
        )
    return sorted(rows, key=lambda row: (-row["wins"], row["mean"] if row["problems"] else math.inf, row["variant"]))


def problem_rows(family: results.Family, styles: figures.Styles) -> list[dict]:
    rows = []
    for problem in family.features:
        ordered = family.ranked(problem)
        best = ordered[0] if ordered else None
        rows.append({"problem": problem, "best": best, "second": ordered[1] if len(ordered) > 1 else None,
                     "colour": styles.css(best.variant) if best else "other"})
    return rows


def winners_caption(family: results.Family, plan: planning.Plan) -> str:
    text = "The fastest variant of each cell and its lead over the next variant."
    if planning.second_feature(family, plan.x) is None:
        return text
    return text + " A star and a paler cell: several problems share the cell and not all have this winner."


def draw_family(device: results.Device, family: results.Family, drawing: Drawing) -> Section:
    styles = figures.Styles(family)
    base = f"{slug(device.key)}-{slug(family.name)}"
    section = Section(family, base, styles, ranking=ranking(family, styles), problems=problem_rows(family, styles))
    section.merit = merit(device.selector, family.name)
    if family.tree is not None:
        try:
            root = trees.parse(family.tree)
            section.tree_text = trees.as_text(root)
            section.figures.append(drawing.keep(
                trees.picture(root, styles), f"{base}-tree", "The trained tree",
                f"What the library asks before it runs {family.name}, from left to right, and what it then runs."))
        except trees.Malformed as error:
            section.tree_complaint = str(error)
    if not family.best():
        return section
    plan = planning.plan(family)
    if plan is not None:
        others = f" Grey: {', '.join(styles.grey)}." if styles.grey else ""
        left_out = (f" {plan.left_out} of {len(family.measured())} problems lie on no curve and are in the table only."
                    if plan.left_out else "")
        section.figures.append(drawing.keep(
            figures.times(family, styles, plan), f"{base}-times", "Time by problem",
            f"Each variant with its best configuration at every point; both axes are logarithmic.{others}{left_out}"))
        if plan.curves and len(styles.order) > 1:
            section.figures.append(drawing.keep(
                figures.times(family, styles, plan, relative=True), f"{base}-behind", "How far behind",
                "The same times over that of the best variant of each problem; beyond ten times it is cut."))
        winners = figures.winners(family, styles, plan)
        if winners is not None:
            section.figures.append(
                drawing.keep(winners, f"{base}-winners", "Who wins where", winners_caption(family, plan)))
    roofline = figures.roofline(family, styles)
    if roofline is not None:
        section.figures.append(drawing.keep(
            roofline, f"{base}-roofline", "Share of the roofline",
            "Over all problems that a variant can do: range, middle half and median (dot), best configuration of each."))
    return section


def merit(selector: dict, family: str) -> dict:
    """The validation figures of a family: those of problems held out of the training, if there are any."""
    families = selector.get("families")
    entry = (families if isinstance(families, dict) else selector).get(family)
    if not isinstance(entry, dict):
        return {}
    neighbour = entry.get("held_out_nearest_neighbour")
    if isinstance(neighbour, dict):
        entry = {**entry, "nearest_neighbour_geomean": neighbour.get("regret_geomean")}
    held_out = entry.get("held_out")
    if not isinstance(held_out, dict):
        return entry
    return {**entry, **held_out, "problems": entry.get("problems"), "held_out": held_out.get("problems")}


def peer_rows(device: results.Device) -> list[dict]:
    """Per problem of peers.csv our best and their best, from one run."""
    rows = []
    for family in device.peers.values():
        for problem in family.best():
            ours, theirs = family.winner(problem), family.peers_of(problem)
            if ours and theirs:
                rows.append({"family": family.name, "problem": problem, "ours": ours, "peers": theirs,
                             "ratio": theirs[0].time / ours.time})
    return rows


def facts(info: dict) -> list[tuple[str, str]]:
    """What is worth knowing of a device, of what its file says."""
    def number(name):
        value = info.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else None

    found = []
    gpu = info.get("kind") == "cuda"
    units = [("sm_count", "multiprocessors", 1, "")] if gpu else [("threads", "threads", 1, "")]
    units += [("memory_bytes", "memory", 2**30, " GiB"), ("l2_bytes", "L2" if gpu else "last-level cache", 2**20, " MiB"),
              ("bytes_per_second", "copy bandwidth, measured", 1e9, " GB/s"),
              ("fp32_per_second", "fp32, measured", 1e9, " GFLOP/s"),
              ("int_per_second", "int32, measured", 1e9, " Gop/s")]
    if gpu and number("sm"):
        found.append(("compute capability", f"{number('sm') / 10:.1f}"))
    for name, label, size, unit in units:
        if (value := number(name)) is not None:
            found.append((label, f"{value / size:,.4g}{unit}" if value / size < 1e4 else f"{value / size:,.0f}{unit}"))
    if not gpu:
        isa = [text for flag, text in (("avx2", "AVX2"), ("avx512", "AVX-512"), ("avx512_vnni", "VNNI")) if info.get(flag) is True]
        found.append(("instruction sets", ", ".join(isa) or "generic"))
    return found


def decimals(value, digits=3) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        return "–"
    return f"{value:.{digits}f}"


def interval(merit: dict, name: str) -> str:
    """The 95% interval of a validation figure, however the file spells it."""
    pair = merit.get(f"{name}_interval") or merit.get(f"{name}_ci")
    if not isinstance(pair, list):
        pair = [merit.get(f"{name}_lo"), merit.get(f"{name}_hi")]
    if len(pair) == 2 and all(isinstance(v, (int, float)) for v in pair):
        return f"[{pair[0]:.3f}, {pair[1]:.3f}]"
    return ""


def environment() -> jinja2.Environment:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(duration=duration, decimals=decimals, ratio=figures.ratio, short=short, slug=slug)
    environment.globals.update(interval=interval, facts=facts)
    return environment


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--device", action="append", default=[])
    options = parser.parse_args(arguments)

    def bad(message: str) -> int:
        print(f"report: {message}", file=sys.stderr)
        return 4

    if not options.results.is_dir():
        return bad(f"there is no folder {options.results}. Measure first: espalier sweep")
    devices = results.load(options.results)
    if options.device:
        known = [device.key for device in devices]
        for key in options.device:
            if key not in known:
                return bad(f"no results of {key} in {options.results}; there are: {', '.join(known) or 'none'}")
        devices = [device for device in devices if device.key in options.device]
    if not devices:
        return bad(f"{options.results} holds no results yet. Measure first: espalier sweep")

    drawing = Drawing(options.output)
    sections = {d.key: [draw_family(d, d.families[name], drawing) for name in sorted(d.families)] for d in devices}
    tables, complaint = published.load(options.results, devices)
    page = environment().get_template("page.html").render(
        devices=devices, sections=sections, peers={d.key: peer_rows(d) for d in devices}, tables=tables,
        published_complaint=complaint, light=Markup(theme.css_variables(dark=False)),
        dark=Markup(theme.css_variables(dark=True)), style=Markup((HERE / "style.css").read_text(encoding="utf-8")))
    target = options.output / "index.html"
    with replaced(target) as file:
        file.write_text(page, encoding="utf-8")
    for device in devices:
        for text in device.complaints:
            print(f"report: {device.key}: {text}", file=sys.stderr)
    if not any(device.families for device in devices):
        return bad(f"no results file in {options.results} could be read; {target} says why")
    print(target)
    return 0


if __name__ == "__main__":
    exit_on_signals()
    sys.exit(main(sys.argv[1:]))
