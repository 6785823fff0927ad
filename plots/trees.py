"""The picture of a family's trained tree, from the table that `espalier export` writes of it."""

import math
from dataclasses import dataclass

from quantities import ratio


@dataclass
class Node:
    depth: int
    condition: str  # that leads to it; empty at the root
    leaf: int | None = None
    choice: str = ""  # the first of a leaf's ranking
    variant: str = ""
    evidence: str = ""


def choice_text(variant: str, configuration: str) -> str:
    return variant + ("" if configuration in ("", "default") else f" [{configuration}]")


def evidence(row: dict, held_out: dict) -> str:
    """`held_out`: what trees that had not seen the leaf's problems chose for them, as selector.json has it."""
    margin, *regret = (float(row[name]) for name in ("margin", "regret", "regret_lo", "regret_hi"))
    text = "n = {}, next variant {}, regret {:.3f} [{:.3f}, {:.3f}]".format(row["problems"], ratio(margin), *regret)
    outside = [held_out.get(name) for name in ("regret_geomean", "regret_max")]
    known = all(isinstance(value, (int, float)) and math.isfinite(value) for value in outside)
    return f"{text}, held out {outside[0]:.3f}, worst {outside[1]:.3f}" if known else text


def node(row: dict, held_out: list) -> Node:
    if not row["leaf"]:
        return Node(int(row["depth"]), row["condition"])
    leaf = int(row["leaf"])
    outside = held_out[leaf] if leaf < len(held_out) and isinstance(held_out[leaf], dict) else {}
    choice = choice_text(row["variant"], row["configuration"])
    return Node(int(row["depth"]), row["condition"], leaf, choice, row["variant"], evidence(row, outside))


def held_out_of(selector: dict, family: str) -> list:
    """By leaf what selector.json has of problems that were held out."""
    entry = (selector.get("families") or {}).get(family)
    found = entry.get("held_out_by_leaf") if isinstance(entry, dict) else None
    return found if isinstance(found, list) else []
