"""The picture of a family's trained tree, from the file that `espalier train` writes: its nodes, checked and linked.

Which leaf a problem ends in and what the library runs there, the program says (`choices/` of `espalier export`).
"""

from dataclasses import dataclass, field

from figures import ratio

DEEPEST = 64
MOST_NODES = 4096


class Malformed(Exception):
    pass


@dataclass
class Node:
    condition: str = ""  # that of the left branch
    opposite: str = ""
    left: "Node | None" = None
    right: "Node | None" = None
    leaf: dict = field(default_factory=dict)  # as the file has it; empty for a split


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
        return Node(*conditions(node), link(node.get("left"), depth + 1), link(node.get("right"), depth + 1))

    return link(listed[0].get("id"), 0)


def conditions(node: dict) -> tuple[str, str]:
    feature = str(node.get("feature"))
    if isinstance(node.get("categories"), list):
        names = " or ".join(str(name) for name in node["categories"])
        return f"{feature} is {names}", f"{feature} is not {names}" if len(node["categories"]) == 1 else "otherwise"
    threshold = node.get("threshold")
    if not isinstance(threshold, (int, float)) or not abs(threshold) < 1e300:
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
