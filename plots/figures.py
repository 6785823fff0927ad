"""The figures of one family on one device."""

import math
from collections import Counter, defaultdict

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

import axes as planning
from results import Family, geometric_mean, quantile
from theme import LIGHT, MARKERS, SERIES

WIDTH = 9.4  # inches
LONGEST_LABEL = 46


def short(text: str, longest: int = LONGEST_LABEL) -> str:
    """One printable line."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def duration(nanoseconds: float, digits: int = 3) -> str:
    if not math.isfinite(nanoseconds):
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)):
        if nanoseconds >= size or unit == "ns":
            return f"{nanoseconds / size:.{digits}g} {unit}"
    return ""


def amount(value: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def ratio(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:.2f}×" if value < 99.5 else f"{value:,.0f}×"


def percent(share: float) -> str:
    return f"{share * 100:.3g}%" if share >= 1e-5 else f"{share * 100:.0e}%"


class Styles:
    """Colour and marker of each variant of a family: the eight that matter most, the rest in grey."""

    def __init__(self, family: Family):
        wins = Counter(case.variant for p in family.features if (case := family.winner(p)))
        means = {variant: geometric_mean(values) for variant, values in family.slowdowns().items()}
        self.order = sorted(means, key=lambda v: (-wins[v], means[v], v))
        self.style = {
            v: (LIGHT[SERIES[i]], MARKERS[i]) for i, v in enumerate(self.order[: len(SERIES)])
        }
        self.grey = self.order[len(SERIES) :]

    def colour(self, variant: str) -> str:
        return self.style.get(variant, (LIGHT["other"], "."))[0]

    def marker(self, variant: str) -> str:
        return self.style.get(variant, (LIGHT["other"], "."))[1]

    def css(self, variant: str) -> str:
        """The name of the variant's colour in the style sheet."""
        shown = self.order[: len(SERIES)]
        return SERIES[shown.index(variant)] if variant in shown else "other"

    def legend(self, figure, **options) -> None:
        handles = [
            Line2D([], [], color=colour, marker=marker, markersize=4.5, linewidth=1.4, label=short(variant, 34))
            for variant, (colour, marker) in self.style.items()
        ]
        if self.grey:
            label = f"{len(self.grey)} others" if len(self.grey) > 1 else short(self.grey[0], 34)
            handles.append(Line2D([], [], color=LIGHT["other"], linewidth=1, label=label))
        figure.legend(handles=handles, ncols=min(4, len(handles)), loc="upper left", handlelength=2.2,
                      columnspacing=1.6, **options)


def log_axis(axis, formatter) -> None:
    low, high = axis.get_view_interval()
    # Less than two decades want marks between the powers of ten.
    steps = (1.0, 2.0, 5.0) if low > 0 and high / low < 100 else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=steps, numticks=9))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: formatter(value)))


FARTHEST_BEHIND = 10.0


def times(family: Family, styles: Styles, plan: planning.Plan, relative: bool = False):
    """Time over problem size, one curve per variant with the best configuration at each point; or, `relative`,
    that time over the best variant's, which shows where curves that lie close cross."""
    columns = min(3, len(plan.panels))
    rows = math.ceil(len(plan.panels) / columns)
    height = 2.75 if columns > 1 else 3.4
    figure, grid = plt.subplots(rows, columns, figsize=(WIDTH, height * rows), sharex=True, sharey=True, squeeze=False)
    best = family.best()
    for axes, (features, problems) in zip(grid.flat, plan.panels):
        points = defaultdict(lambda: defaultdict(list))
        for problem in problems:
            least = family.winner(problem).time if relative and family.winner(problem) else 1.0
            for variant, case in best.get(problem, {}).items():
                points[variant][family.features[problem][plan.x]].append(case.time / least)
        for variant in reversed(styles.order):
            curve = sorted((x, geometric_mean(values)) for x, values in points.get(variant, {}).items())
            if not curve:
                continue
            grey = variant not in styles.style
            axes.plot(*zip(*curve), color=styles.colour(variant), marker=None if grey else styles.marker(variant),
                      linestyle="-" if plan.curves else "none", markersize=3.6, linewidth=0.8 if grey else 1.3)
            if grey and not plan.curves:
                axes.plot(*zip(*curve), color=styles.colour(variant), marker=".", linestyle="none", markersize=3)
        longest = 32 if columns == 3 else 50
        title = "\n".join(short(line, longest) for line in planning.panel_title(features, longest))
        axes.set(xscale="log", yscale="log")
        axes.set_title(title, linespacing=1.3)
        if relative:  # only a peer can lie below 1
            axes.set_ylim(max(0.1, min(0.93, axes.get_ylim()[0])), FARTHEST_BEHIND)
        log_axis(axes.xaxis, amount)
        log_axis(axes.yaxis, "{:g}×".format if relative else duration)
    for axes in list(grid.flat)[len(plan.panels) :]:
        axes.set_visible(False)
        grid[-2][list(grid[-1]).index(axes)].xaxis.set_tick_params(labelbottom=True)
    figure.supxlabel(short(plan.x), fontsize=9, y=0.01)
    figure.supylabel("time over the best variant's" if relative else "time, best configuration", fontsize=9, x=0.0)
    figure.tight_layout(w_pad=1.2, h_pad=1.2)
    styles.legend(figure, bbox_to_anchor=(0.03, -0.02))
    return figure


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letters(family: Family, styles: Styles) -> dict[str, str]:
    winners = {case.variant for p in family.features if (case := family.winner(p))}
    ordered = [variant for variant in styles.order if variant in winners]
    return {variant: LETTERS[i] if i < len(LETTERS) else "·" for i, variant in enumerate(ordered)}


def winners(family: Family, styles: Styles, plan: planning.Plan):
    """A map of which variant is fastest where, with its lead over the next variant."""
    y = planning.second_feature(family, plan.x)
    cells = defaultdict(list)
    for problem, features in family.features.items():
        ordered = family.ranked(problem)
        if ordered and features.get(plan.x) is not None:
            lead = ordered[1].time / ordered[0].time if len(ordered) > 1 else math.nan
            cells[features[plan.x], features.get(y) if y else ""].append((ordered[0].variant, lead))
    if not cells:
        return None
    sort = lambda value: (isinstance(value, str), value if value is not None else 0)  # noqa: E731
    columns = sorted({x for x, _ in cells}, key=sort)
    rows = sorted({value for _, value in cells}, key=sort)
    if len(columns) > 40:
        return None
    code = letters(family, styles)
    figure, axes = plt.subplots(figsize=(min(WIDTH, 2.4 + 1.1 * len(columns)), 0.7 + 0.42 * len(rows)))
    roomy = len(columns) <= 14
    for (x, value), found in cells.items():
        counts = Counter(variant for variant, _ in found)
        variant = counts.most_common(1)[0][0]
        leads = [lead for name, lead in found if name == variant and math.isfinite(lead)]
        column, row = columns.index(x), rows.index(value)
        axes.add_patch(Rectangle((column - 0.47, row - 0.45), 0.94, 0.9, facecolor=styles.colour(variant),
                                 alpha=1.0 if len(counts) == 1 else 0.55, linewidth=0))
        text = code[variant] + ("" if len(counts) == 1 else "*")
        if roomy and leads:
            text += f"  {ratio(geometric_mean(leads))}"
        axes.text(column, row, text, ha="center", va="center", fontsize=7.5, fontweight="bold",
                  color=LIGHT["on-series" if len(counts) == 1 else "ink"])
    axes.set(xlim=(-0.6, len(columns) - 0.4), ylim=(-0.6, len(rows) - 0.4), xlabel=short(plan.x))
    axes.set_xticks(range(len(columns)), [planning.text_of(x) if roomy and x < 1e5 else amount(x) for x in columns],
                    rotation=0 if roomy else 60, ha="center" if roomy else "right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), [short(f"{y} = {planning.text_of(v)}" if y else "", 30) for v in rows])
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    handles = [Rectangle((0, 0), 1, 1, facecolor=styles.colour(v), label=f"{c}  {short(v, 34)}") for v, c in code.items()]
    figure.tight_layout()
    figure.legend(handles=handles, ncols=min(4, len(handles)), loc="upper left", bbox_to_anchor=(0.03, -0.02),
                  handlelength=1.2, columnspacing=1.6)
    return figure


def roofline(family: Family, styles: Styles):
    """How much of the device's ceiling each variant reaches: range, middle half and median over the problems."""
    shares = defaultdict(list)
    for variants in family.best().values():
        for variant, case in variants.items():
            if math.isfinite(case.roofline) and case.roofline > 0:
                shares[variant].append(case.roofline)
    if not shares:
        return None
    order = sorted(shares, key=lambda v: quantile(shares[v], 0.5))
    figure, axes = plt.subplots(figsize=(WIDTH, 0.75 + 0.235 * len(order)))
    for row, variant in enumerate(order):
        values = shares[variant]
        colour = styles.colour(variant)
        axes.plot([min(values), max(values)], [row, row], color=colour, linewidth=1.2, solid_capstyle="round")
        axes.plot([quantile(values, 0.25), quantile(values, 0.75)], [row, row], color=colour, linewidth=4.5,
                  solid_capstyle="round")
        axes.plot(quantile(values, 0.5), row, marker="o", markersize=5.5, color=LIGHT["surface"],
                  markeredgecolor=colour, markeredgewidth=1.6)
        axes.annotate(percent(quantile(values, 0.5)), (1, row), xycoords=("axes fraction", "data"), xytext=(6, 0),
                      textcoords="offset points", va="center", fontsize=7.5, color=LIGHT["muted"])
    axes.axvline(1, color=LIGHT["muted"], linewidth=0.9, linestyle=(0, (4, 3)))
    axes.set(xscale="log", xlim=(min(min(v) for v in shares.values()) / 1.3, 1.8), ylim=(-0.7, len(order) - 0.3))
    axes.set_xlabel("share of the roofline (1 = the least time the device's measured ceilings allow)")
    axes.set_yticks(range(len(order)), [short(variant, 34) for variant in order])
    axes.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    log_axis(axes.xaxis, percent)
    figure.tight_layout()
    return figure
