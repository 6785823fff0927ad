"""The trained tree of a family, from the file that `espalier train` writes beside the results."""

from dataclasses import dataclass, field

import matplotlib.pyplot as plt

from figures import Styles, ratio, short
from theme import LIGHT

DEEPEST = 64
MOST_NODES = 4096


class Malformed(Exception):
    pass


@dataclass
class Node:
    condition: str = ""  # that of the left branch; empty for a leaf
    opposite: str = ""
    left: "Node | None" = None
    right: "Node | None" = None
    leaf: dict = field(default_factory=dict)
    row: float = 0

    def leaves(self) -> list["Node"]:
        return [self] if self.left is None else self.left.leaves() + self.right.leaves()

    def depth(self) -> int:
        return 0 if self.left is None else 1 + max(self.left.depth(), self.right.depth())


def parse(body: dict) -> Node:
    """Checks that the nodes form one tree and links them."""
    listed = body.get("nodes")
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_NODES:
        raise Malformed("no list of nodes")
    if not all(isinstance(node, dict) for node in listed):
        raise Malformed("a node is not an object")
    by_id = {node.get("id"): node for node in listed if isinstance(node.get("id"), int)}
    used = set()

    def link(identity, depth: int) -> Node:
        if identity not in by_id or identity in used or depth > DEEPEST:
            raise Malformed("its nodes form no tree")
        used.add(identity)
        node = by_id[identity]
        if "left" not in node:
            ranking = node.get("ranking")
            if not isinstance(ranking, list) or not ranking or not all(isinstance(choice, dict) for choice in ranking):
                raise Malformed("a leaf has no ranking")
            return Node(leaf=node)
        condition, opposite = conditions(node)
        return Node(condition, opposite, link(node.get("left"), depth + 1), link(node.get("right"), depth + 1))

    root = link(listed[0].get("id"), 0)
    for row, leaf in enumerate(root.leaves()):
        leaf.row = row
    return root


def conditions(node: dict) -> tuple[str, str]:
    feature = str(node.get("feature"))
    if isinstance(node.get("categories"), list):
        names = " or ".join(str(name) for name in node["categories"])
        return f"{feature} is {names}", f"{feature} is not {names}" if len(node["categories"]) == 1 else "otherwise"
    threshold = node.get("threshold")
    if not isinstance(threshold, (int, float)):
        raise Malformed("a split has neither threshold nor categories")
    text = f"{threshold:,.6g}" if abs(threshold) < 1e6 else f"{threshold:.6g}"
    return f"{feature} ≤ {text}", f"{feature} > {text}"


def choice_text(choice: dict) -> str:
    configuration = str(choice.get("configuration", "default"))
    return str(choice.get("variant", "?")) + ("" if configuration in ("", "default") else f" [{configuration}]")


def evidence(leaf: dict) -> str:
    parts = []
    if isinstance(leaf.get("problems"), int):
        parts.append(f"n = {leaf['problems']}")
    numbers = {name: leaf[name] for name in ("margin", "regret", "regret_lo", "regret_hi")
               if isinstance(leaf.get(name), (int, float))}
    if "margin" in numbers:
        parts.append(f"next variant {ratio(numbers['margin'])}")
    if "regret" in numbers:
        interval = f" [{numbers['regret_lo']:.3f}, {numbers['regret_hi']:.3f}]" if len(numbers) == 4 else ""
        parts.append(f"regret {numbers['regret']:.3f}{interval}")
    held_out = [leaf.get(name) for name in ("held_out_regret", "held_out_worst")]
    if all(isinstance(value, (int, float)) for value in held_out):
        parts.append(f"held out {held_out[0]:.3f}, worst {held_out[1]:.3f}")
    return ", ".join(parts)


def as_text(node: Node, indent: int = 0) -> str:
    """The tree as nested conditions: what the picture shows, for reading and for screen readers."""
    pad = "    " * indent
    if node.left is None:
        facts = evidence(node.leaf)
        return f"{pad}{choice_text(node.leaf['ranking'][0])}" + (f"    ({facts})" if facts else "") + "\n"
    return (f"{pad}if {node.condition}:\n{as_text(node.left, indent + 1)}"
            f"{pad}else:\n{as_text(node.right, indent + 1)}")


def picture(root: Node, styles: Styles):
    """Drawn sideways: one row per leaf, so that long names and many leaves fit."""
    leaves, depth = root.leaves(), max(root.depth(), 1)
    figure, axes = plt.subplots(figsize=(9.4, 0.35 + 0.40 * len(leaves)))
    leaf_x = depth

    def place(node: Node, level: int) -> tuple[float, float]:
        if node.left is None:
            draw_leaf(node, level)
            return (level, -node.row)
        children = [place(node.left, level + 1), place(node.right, level + 1)]
        here = (level, sum(y for _, y in children) / 2)
        for (x, y), text in zip(children, (node.condition, node.opposite)):
            axes.plot([here[0], here[0] + 0.06, here[0] + 0.06, x], [here[1], here[1], y, y], color=LIGHT["muted"],
                      linewidth=1.1, solid_joinstyle="round", zorder=1)
            axes.text(here[0] + 0.1, y + 0.07, short(text, 34), fontsize=7.5, va="bottom", color=LIGHT["ink"])
        axes.plot(*here, marker="o", markersize=4, color=LIGHT["muted"], zorder=2)
        return here

    def draw_leaf(node: Node, level: int) -> None:
        choice = node.leaf["ranking"][0]
        colour = styles.colour(str(choice.get("variant")))
        axes.plot([level, leaf_x], [-node.row, -node.row], color=LIGHT["muted"], linewidth=1.1, zorder=1)
        axes.plot(leaf_x, -node.row, marker="s", markersize=7, color=colour, zorder=2)
        axes.text(leaf_x + 0.07, -node.row + 0.02, short(choice_text(choice), 44), fontsize=8.5, fontweight="bold",
                  va="bottom", color=LIGHT["ink"])
        axes.text(leaf_x + 0.07, -node.row - 0.06, short(evidence(node.leaf), 96), fontsize=7, va="top",
                  color=LIGHT["muted"])

    place(root, 0)
    axes.set(xlim=(-0.05, depth + max(1.0, 0.55 * depth)), ylim=(-len(leaves) + 0.4, 0.6))
    axes.axis("off")
    return figure
