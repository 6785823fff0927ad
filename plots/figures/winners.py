"""Who wins where: a map over the two features that together tell most about it."""

import itertools
import math
from collections import Counter, defaultdict

from figures.drawing import Drawing, Skipped
from figures.problems import by_wins, numbers_of, winners
from figures.style import DARK, OKABE_ITO, OTHER, legend_inside, new_figure
from matplotlib.patches import Rectangle
from quantities import amount
from results import Device, Family, geometric_mean

MOST_COLUMNS, MOST_ROWS = 7, 9
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_NAMED = 12


class Bins:
    """The values of a feature, or ranges between powers of two where they are many."""

    def __init__(self, values: list, most: int):
        self.step = 0
        distinct = sorted(set(values), key=lambda value: (isinstance(value, str), value))
        if all(isinstance(value, float) for value in distinct) and len(distinct) > most:
            self.low = math.floor(math.log2(max(distinct[0], 1)))
            self.step = max(1, math.ceil((math.log2(max(distinct[-1], 1)) - self.low + 1e-9) / most))

    def of(self, value):
        if not self.step:
            return value
        return 2.0 ** (self.low + self.step * math.floor((math.log2(max(value, 1)) - self.low) / self.step))

    def label(self, edge) -> str:
        if isinstance(edge, str):
            return edge
        return amount(float(f"{edge:.2g}") if self.step else edge)

    def title(self, name: str) -> str:
        return f"{name}, from ... on" if self.step else name


def entropy(variants: list[str]) -> float:
    """Bits that it takes to say who wins each of the problems."""
    return -sum(n * math.log2(n / len(variants)) for n in Counter(variants).values())


def best_axes(family: Family, won: dict[str, str]) -> tuple[str, str]:
    """The two features that leave least to be said; a cell costs a bit."""
    rows = {problem: family.complete(problem) for problem in won}
    names = numbers_of(family) + sorted(
        name for name in dict.fromkeys(name for row in rows.values() for name in row)
        if len({row.get(name) for row in rows.values()}) > 1 and all(isinstance(row.get(name), str) for row in rows.values()))
    if not names:
        raise Skipped(f"no feature of {family.name} varies")
    if len(names) == 1:
        return names[0], ""

    def left(pair) -> float:
        bins = [Bins([row[name] for row in rows.values()], most) for name, most in zip(pair, (MOST_COLUMNS, MOST_ROWS))]
        cells = defaultdict(list)
        for problem, row in rows.items():
            cells[tuple(of.of(row[name]) for of, name in zip(bins, pair))].append(won[problem])
        return sum(entropy(variants) + 1 for variants in cells.values())

    x, y = min(itertools.combinations(names, 2), key=left)
    return (y, x) if isinstance(next(iter(rows.values()))[x], str) else (x, y)


def cell(axes, place: tuple[int, int], problems: list[str], family: Family, won: dict, order: list[str]) -> None:
    variant, count = Counter(won[problem] for problem in problems).most_common(1)[0]
    index = order.index(variant)
    colour = OKABE_ITO[index] if index < len(OKABE_ITO) else OTHER
    mixed = count < len(problems)
    axes.add_patch(Rectangle(place, 1, 1, facecolor=colour, alpha=0.4 if mixed else 1, edgecolor="white", linewidth=1))
    leads = [ranked[1].time / ranked[0].time for problem in problems if won[problem] == variant
             for ranked in (family.ranked(problem),)]
    ink = "white" if colour in DARK and not mixed else "black"
    lead = geometric_mean(leads)
    axes.text(place[0] + 0.5, place[1] + 0.5, f"{LETTERS[index % 26]} {lead:.2g}" if lead < 10 else
              f"{LETTERS[index % 26]} {lead:.0f}", color=ink, ha="center", va="center", fontsize=7)


def draw(family: Family):
    won = winners(family)
    if not won:
        raise Skipped(f"no two variants of {family.name} were timed on one problem")
    x, y = best_axes(family, won)
    rows = {problem: family.complete(problem) for problem in won}
    across = Bins([row[x] for row in rows.values()], MOST_COLUMNS)
    down = Bins([row[y] for row in rows.values()] if y else [""], MOST_ROWS)
    cells = defaultdict(list)
    for problem, row in rows.items():
        cells[across.of(row[x]), down.of(row[y]) if y else ""].append(problem)
    columns = sorted({key[0] for key in cells})
    lines = sorted({key[1] for key in cells})
    order = by_wins(family, won)
    named = order[:MOST_NAMED]
    figure, (axes,) = new_figure(1.4 + 0.55 * len(lines))
    for (a, b), problems in cells.items():
        cell(axes, (columns.index(a), lines.index(b)), problems, family, won, order)
    axes.set(xlim=(0, len(columns)), ylim=(0, len(lines)), xlabel=across.title(x), ylabel=down.title(y))
    axes.set_xticks([i + 0.5 for i in range(len(columns))], [across.label(edge) for edge in columns])
    axes.set_yticks([i + 0.5 for i in range(len(lines))], [down.label(edge) for edge in lines])
    axes.grid(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    wins = Counter(won.values())
    for i, variant in enumerate(named):
        axes.add_patch(Rectangle((0, 0), 0, 0, color=OKABE_ITO[i] if i < len(OKABE_ITO) else OTHER,
                                 label=f"{LETTERS[i % 26]} {variant} {wins[variant]}"))
    legend_inside(axes)
    return figure


def drawings(device: Device) -> list[Drawing]:
    return [Drawing(f"winners-{family.name}", lambda family=family: draw(family),
                    f"Who wins where: {family.name}. A cell has the letter of the variant that wins most of its problems and "
                    "its mean lead over the next variant; pale cells have more than one winner. The two features are those "
                    "that tell most about who wins. After a variant's name stands how many problems it wins.", [family])
            for family in device.families.values()]
