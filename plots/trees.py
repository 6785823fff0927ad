"""The trained tree of a family, from the file that `espalier train` writes."""

from collections.abc import Callable, Container
from dataclasses import dataclass, field

from figures import ratio

DEEPEST = 64
MOST_NODES = 4096


class Malformed(Exception):
    pass


@dataclass
class Node:
    place: int  # in pre-order
    split: dict = field(default_factory=dict)  # as the file has it; empty for a leaf
    condition: str = ""  # that of the left branch
    opposite: str = ""
    left: "Node | None" = None
    right: "Node | None" = None
    leaf: dict = field(default_factory=dict)

    def leaves(self) -> list["Node"]:
        return [self] if self.left is None else self.left.leaves() + self.right.leaves()


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
        place = len(used)
        used.add(identity)
        node = by_id[identity]
        if "left" not in node:
            ranking = node.get("ranking")
            if not isinstance(ranking, list) or not ranking or not all(isinstance(choice, dict) for choice in ranking):
                raise Malformed("a leaf has no ranking")
            return Node(place, leaf=node)
        condition, opposite = conditions(node)
        return Node(place, node, condition, opposite, link(node.get("left"), depth + 1),
                    link(node.get("right"), depth + 1))

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


def value_of(expression: str, features: dict) -> float | str | None:
    """A feature of a problem, or "a * b" or "a / b" of two, as kernels/core/pair.hpp has them; None if the problem lacks
    it."""
    for sign in (" * ", " / "):
        if sign in expression:
            a, b = (features.get(name) for name in expression.split(sign, 1))
            if not isinstance(a, float) or not isinstance(b, float):
                return None
            return a * b if sign == " * " else a / (b or 1)
    return features.get(expression)


def leaf_of(root: Node, features: dict) -> Node | None:
    """Where a problem ends up; None if it lacks a feature that the tree asks for."""
    node = root
    while node.left is not None:
        value = value_of(str(node.split.get("feature")), features)
        categories = node.split.get("categories")
        if value is None or isinstance(value, str) != isinstance(categories, list):
            return None
        left = value in categories if isinstance(categories, list) else value <= node.split["threshold"]
        node = node.left if left else node.right
    return node


def choices_of(leaf: Node) -> list[tuple[str, str]]:
    """Its ranking as variants and configurations."""
    return [(str(choice.get("variant")), str(choice.get("configuration", "default"))) for choice in leaf.leaf["ranking"]]


def first_of(leaf: Node, among: Container[tuple[str, str]]) -> tuple[str, str] | None:
    """The first choice of a leaf's ranking, variant and configuration, that is `among` those."""
    return next((choice for choice in choices_of(leaf) if choice in among), None)


def dispatched(root: Node, leaf: Node, runs: Callable[[str, str], bool | None]) -> tuple[str, str]:
    """What the library runs (kernels/dispatch/dispatch.hpp) if it has no other tree: the first of the leaf's ranking, then of
    any leaf's; the baseline that ends a ranking only where nothing else can. `runs` is None where nobody knows: the leaf's
    own choices are taken then."""
    def before_the_baseline(some: Node) -> list[tuple[str, str]]:
        ranking = choices_of(some)
        return ranking if len(ranking) == 1 else ranking[:-1]

    for choice in before_the_baseline(leaf):
        if runs(*choice) in (True, None):
            return choice
    baseline = choices_of(leaf)[-1]
    others = (choice for other in root.leaves() for choice in before_the_baseline(other) if choice[0] != baseline[0])
    return next((choice for choice in others if runs(*choice)), baseline)


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
