"""The learned tree of at most eight leaves beside the ones that the k-NN thesis prints (results/published/rules.json)."""

import math
from dataclasses import dataclass
from pathlib import Path

import trees
from evidence import rows_of
from figures.drawing import Drawing, Skipped
from figures.style import OKABE_ITO, new_figure
from quantities import short
from results import Device, geometric_mean, read_object, read_table
from rules import graded

FAMILY = "distance"
ROW_CM = 0.36
MOST_CHARACTERS = 62


@dataclass
class Line:
    depth: int
    text: str
    leaf: bool


def learned(table: Path) -> tuple[list[Line], str]:
    """A tree's nodes in pre-order, and how good it is on what it was trained on."""
    if not table.exists():
        raise Skipped("no tree of at most eight leaves could be trained; espalier figures says why")
    lines, logs = [], []
    for row in read_table(table, dict):
        depth, condition = int(row["depth"]), row["condition"]
        if condition:
            lines.append(Line(depth, condition, False))
        if row["leaf"]:
            lines.append(Line(depth + 1, f"{trees.choice_text(row['variant'], row['configuration'])}, {row['problems']} "
                                         "problems", True))
            logs += [math.log(float(row["regret"]))] * int(row["problems"])
    leaves = sum(line.leaf for line in lines)
    return lines, f"learned, {leaves} leaves: regret {math.exp(sum(logs) / len(logs)):.2f}, {len(logs)} problems"


def printed(tree: dict) -> list[Line]:
    """A list of rules as the tree that it is: whoever a rule does not hold for goes on."""
    lines, depth = [], 1
    for rule in tree["rules"]:
        conditions = [condition.replace("134217728", "2^27").replace("<=", " <= ").replace("=", " = ").replace("< = ", "<=")
                      .replace("  ", " ") for condition in rule["if"]]
        for place, condition in enumerate(conditions):
            lines.append(Line(depth, ("and " if place else "") + condition, False))
        lines.append(Line(depth + bool(conditions), rule["then"], True))
        if conditions and rule is not tree["rules"][-1]:
            lines.append(Line(depth, "otherwise", False))
            depth += 1
    return lines


def grade(tree: dict, device: Device) -> str:
    family = device.families[FAMILY]
    rows = [row for row in rows_of(family, True) if all(name.split("=")[0] in row for name in tree["where"])]
    found = graded(tree, family.choices, rows)["rules"]
    return f": regret {geometric_mean(found):.2f}, {len(found)} problems" if found else ""


def panel(axes, title: str, lines: list[Line]) -> None:
    axes.set(xlim=(0, 1), ylim=(len(lines) + 0.2, -1.8))
    axes.axis("off")
    axes.text(0, -1.2, title, fontsize=7.5, fontweight="bold", va="center")
    open_: dict[int, int] = {}
    for place, line in enumerate(lines):
        x = 0.035 * line.depth
        above = open_.get(line.depth, open_.get(line.depth - 1, -0.4))
        axes.plot([x - 0.02, x - 0.02, x - 0.006], [above, place, place], color="#9a9a9a", linewidth=0.6)
        open_[line.depth] = place
        for deeper in [depth for depth in open_ if depth > line.depth]:
            del open_[deeper]
        axes.text(x, place, ("→ " if line.leaf else "") + short(line.text, MOST_CHARACTERS), va="center", fontsize=7,
                  color=OKABE_ITO[0] if line.leaf else "black")


def draw(device: Device, results: Path, exports: Path):
    if FAMILY not in device.families:
        raise Skipped(f"{device.key} has no results of {FAMILY}")
    lines, title = learned(exports / device.key / "trees/small" / f"{FAMILY}.csv")
    panels = [(title, lines)]
    rules = results / "published" / "rules.json"
    if rules.exists():
        for tree in read_object(rules)["trees"]:
            if tree["family"] == FAMILY:
                name = tree["id"].split(": ", 1)[1].removeprefix("distances ")
                panels.append((f"thesis, {name}{grade(tree, device)}", printed(tree)))
    heights = [len(of) + 2 for _, of in panels]
    figure, found = new_figure(ROW_CM * sum(heights) + 0.3, len(panels))
    found[0].get_gridspec().set_height_ratios(heights)
    for axes, (title, of) in zip(found, panels):
        panel(axes, title, of)
    return figure


def drawings(device: Device, results: Path, exports: Path) -> list[Drawing]:
    families = [device.families[FAMILY]] if FAMILY in device.families else []
    return [Drawing("tree-distance", lambda: draw(device, results, exports), "How to choose a kernel for distances: a tree "
                    "of at most eight leaves as espalier train grows it from these results, beside the k-NN thesis' trees "
                    "for Fermi and for the cards before it, read from its prose. Behind each stands the geometric mean of its "
                    "regret on measured problems, the thesis' on its own metrics.", families)]
