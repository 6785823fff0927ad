#!/usr/bin/python3
"""Writes the report of everything below a results folder: one self-contained HTML page.

usage: report.py --results FOLDER --exports FOLDER --output FOLDER [--device KEY]... [--published]

Measurements come from --exports, where `espalier export` wrote them as tables; trees and figures from --results.
With --published the page, published.html, is of the source documents' figures alone.
Exit codes as those of the command line: 0 fine, 2 usage, 4 bad data.

Tables stand in the page; its own scripts (page/*.js) hide what is not asked for and draw pictures beside them.
"""

import argparse
import math
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import columns
import quantities
import page_data
import published
import results
import shell
import theme
from replaced import exit_on_signals, replace

SCRIPTS = ("dom", "model", "chart", "lookup", "winners", "times", "roofline", "regret", "main")


@dataclass
class Section:
    """One family on one device."""

    family: results.Family
    anchor: str
    colours: dict[str, str]
    ranking: list[dict] = field(default_factory=list)
    problems: list[dict] = field(default_factory=list)
    merit: list[dict] = field(default_factory=list)
    validation: dict = field(default_factory=dict)
    peers: list[dict] = field(default_factory=list)


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:60].strip(".-") or "unnamed"


def ranking(family: results.Family, colours: dict[str, str]) -> list[dict]:
    """One row per variant: how often it wins, how far it lies behind otherwise, how near to the ceilings it comes."""
    slowdowns, best, wins = family.slowdowns(), family.best(), family.wins()
    own = {variant: [] for variant in colours}
    shares = {variant: [] for variant in colours}
    for variants in best.values():
        for variant, case in variants.items():
            if not case.disturbed and math.isfinite(case.roofline) and case.roofline > 0:
                shares[variant].append(case.roofline)
    for case in family.cases:
        own[case.variant].append(case)
    rows = []
    roles, failed = family.roles(), family.failed()
    for variant in colours:
        values = slowdowns.get(variant, [])
        rows.append(
            {
                "variant": variant,
                "role": roles[variant] + (", failed: never chosen" if variant in failed else ""),
                "wins": wins[variant],
                "problems": len(values),
                "mean": results.geometric_mean(values),
                "p90": results.quantile(values, 0.9),
                "worst": max(values, default=math.nan),
                "shares": [results.quantile(shares[variant], share) for share in (0.25, 0.5, 0.75)],
                "configurations": len({case.configuration for case in own[variant]}),
                "not_ok": {status: n for status in results.STATUSES[1:]
                           if (n := sum(case.status == status for case in own[variant]))},
            }
        )
    return rows


MOST_PROBLEMS = 1500  # in a family's table: the exports have all, and pages of 5 MB open at once


def shown_problems(family: results.Family) -> list[str]:
    """All, or of too many those where the library's choice loses most or fails, in their order."""
    problems = list(family.features)
    if len(problems) <= MOST_PROBLEMS:
        return problems

    def loss(problem: str) -> float:
        choice = family.choices.get(problem)
        return 0 if choice is None or math.isnan(choice.regret) else choice.regret
    shown = set(sorted(problems, key=loss, reverse=True)[:MOST_PROBLEMS])
    return [problem for problem in problems if problem in shown]


def problem_rows(family: results.Family) -> list[dict]:
    rows = []
    for problem in shown_problems(family):
        ordered = family.ranked(problem)
        rows.append({"problem": problem, "best": ordered[0] if ordered else None,
                     "second": ordered[1] if len(ordered) > 1 else None, "disturbed": family.fastest_disturbed(problem)})
    return rows


# What the trees are compared with: where selector.json has it, and what the page calls it.
VALIDATION = (
    ((), "the measured problems, which the tree was trained on"),
    (("held_out",), "the same, each held out of the training"),
    (("unseen",), "unseen problems, drawn at random from the domain"),
    (("held_out_best_single",), "instead of the tree: the one choice that is best on the whole"),
    (("held_out_nearest_neighbour",), "instead of the tree: what was best on the nearest measured problem"),
    (("held_out_sklearn",), "instead of the tree: scikit-learn's plain one"),
)


def validation(entry: dict) -> list[dict]:
    rows = []
    for path, label in VALIDATION:
        found = entry
        for name in path:
            found = found.get(name)
        if isinstance(found, dict) and isinstance(found.get("regret_geomean"), (int, float)):
            rows.append({"label": label, "figures": found, "unseen": path == ("unseen",)})
    return rows


def selector_entry(selector: dict, family: str) -> dict:
    families = selector.get("families")
    entry = (families if isinstance(families, dict) else selector).get(family)
    return entry if isinstance(entry, dict) else {}


def peer_rows(family: results.Family | None) -> list[dict]:
    """Per problem of the peers our best and their best, from one run; where we lie furthest behind first."""
    rows = []
    for problem in family.best() if family else []:
        ours, theirs = family.winner(problem), family.peers_of(problem)
        if ours and theirs:
            rows.append({"problem": problem, "ours": ours, "peers": theirs, "ratio": theirs[0].time / ours.time})
    return sorted(rows, key=lambda row: row["ratio"])


def make_section(device: results.Device, family: results.Family) -> Section:
    order = page_data.order_of_variants(family)
    colours = {variant: theme.SERIES[i] if i < len(theme.SERIES) else "other" for i, variant in enumerate(order)}
    entry = selector_entry(device.selector, family.name)
    section = Section(family, f"{slug(device.key)}-{slug(family.name)}", colours, ranking(family, colours),
                      problem_rows(family), merit=validation(entry), validation=entry,
                      peers=peer_rows(device.peers.get(family.name)))
    return section


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
        isa = [text for flag, text in (("avx2", "AVX2"), ("avx512", "AVX-512"), ("avx512_vnni", "VNNI"), ("amx_bf16", "AMX")) if info.get(flag) is True]
        found.append(("instruction sets", ", ".join(isa) or "generic"))
    return found


def decimals(value, digits=3) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        return "–"
    return f"{value:.{digits}f}"


def interval(merit: dict, name: str) -> str:
    """The 95% interval of a validation figure."""
    pair = merit.get(f"{name}_interval")
    if isinstance(pair, list) and len(pair) == 2 and all(isinstance(v, (int, float)) for v in pair):
        return f"[{pair[0]:.3f}, {pair[1]:.3f}]"
    return ""


def interval_text(case: results.Case) -> str:
    """"4.03 – 4.08 µs"; each end with its unit where they differ. The bare range where that is no interval."""
    low, high = quantities.duration(case.low), quantities.duration(case.high)
    text = f"{low.split()[0]} – {high}" if low.split()[1:] == high.split()[1:] else f"{low} – {high}"
    return text if case.has_interval else f"{text}, " + ("too few samples" if case.too_few else "no interval")


def environment():
    found = shell.environment()
    found.filters.update(decimals=decimals, slug=slug)
    found.globals.update(interval=interval, interval_text=interval_text, causes=columns.CAUSES, facts=facts)
    return found


def data_of(devices: list[results.Device], sections: dict[str, list[Section]]) -> dict:
    return {device.key: {"name": device.name, "ceilings": page_data.ceilings(device.info),
                         "families": {section.family.name: {"anchor": section.anchor,
                                                            **page_data.family_data(device, section.family)}
                                      for section in sections[device.key] if section.family.best()}}
            for device in devices}


def write(target: Path, page: str) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    replace(target, page)
    return target


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--exports", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--device", action="append", default=[])
    parser.add_argument("--published", action="store_true")
    options = parser.parse_args(arguments)

    def bad(message: str) -> int:
        print(f"report: {results.printable(message)}", file=sys.stderr)
        return 4

    if not options.results.is_dir():
        return bad(f"there is no folder {options.results}. Measure first: espalier sweep")
    devices = results.load(options.results, options.exports, options.device)
    for key in options.device:
        if key not in [device.key for device in devices]:
            known = sorted(path.parent.name for path in options.results.glob("*/device.json"))
            return bad(f"no results of {key} in {options.results}; there are: {', '.join(known) or 'none'}")
    if not devices:
        return bad(f"{options.results} holds no results yet. Measure first: espalier sweep")

    tables, error = published.load(options.results, options.exports, devices)
    if options.published:
        if not tables:
            missing = options.results / "published" / "tables.json"
            return bad(error or f"there is no {missing}, which has the printed figures: it comes with the sources")
        print(results.printable(str(write(options.output / "published.html", environment().get_template("published.html").render(
            devices=devices, tables=tables, error=error, policy=shell.policy(""))))))
        return 0
    sections = {d.key: [make_section(d, d.families[name]) for name in sorted(d.families)] for d in devices}
    code = shell.script(*SCRIPTS)
    target = write(options.output / "index.html", environment().get_template("page.html").render(
        devices=devices, sections=sections, tables=tables, published_error=error, policy=shell.policy(code),
        code=code, data=shell.Markup(page_data.as_script(data_of(devices, sections)))))
    for device in devices:
        for text in device.errors:
            print(results.printable(f"report: {device.key}: {text}"), file=sys.stderr)
    if not any(device.families for device in devices):
        return bad(f"no results file in {options.results} could be read; {target} says why")
    print(results.printable(str(target)))
    return 0


if __name__ == "__main__":
    exit_on_signals()
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as failure:
        print(f"report: {results.printable(str(failure))}: check the path, its permissions and the disk", file=sys.stderr)
        sys.exit(4)
