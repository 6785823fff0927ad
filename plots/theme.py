"""Colours, and how one SVG serves a file, a light page and a dark page.

Figures are drawn in the light palette. For the page every colour of the palette becomes a CSS variable, which the
style sheet defines twice; a file keeps the light one.
"""

import io
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# name: (light, dark). Series are told apart by marker and label too, never by colour alone.
PALETTE = {
    "ink": ("#1f2430", "#e8eaef"),
    "muted": ("#667085", "#98a1b3"),
    "grid": ("#e3e6ec", "#2c323e"),
    "surface": ("#ffffff", "#171a21"),
    "other": ("#b9c0cc", "#4b5363"),
    "on-series": ("#fffffe", "#12151b"),  # text on a filled cell
    "s0": ("#2f6fb8", "#6aa9f0"),
    "s1": ("#d4711c", "#f0a05a"),
    "s2": ("#1f8a5f", "#4fc796"),
    "s3": ("#b3478c", "#e689c3"),
    "s4": ("#6a57c2", "#a99bf2"),
    "s5": ("#158d9b", "#50c6d3"),
    "s6": ("#97761c", "#d8b84f"),
    "s7": ("#c23b3b", "#f28482"),
}
LIGHT = {name: light for name, (light, _) in PALETTE.items()}
SERIES = [name for name in PALETTE if re.fullmatch(r"s\d", name)]
MARKERS = "osD^vPX*"

plt.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 8.5,
        "text.parse_math": False,  # names are text, whatever dollar signs they contain
        "text.color": LIGHT["ink"],
        "axes.edgecolor": LIGHT["muted"],
        "axes.labelcolor": LIGHT["ink"],
        "axes.titlesize": 9,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.7,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": LIGHT["grid"],
        "grid.linewidth": 0.7,
        "xtick.color": LIGHT["muted"],
        "ytick.color": LIGHT["muted"],
        "xtick.minor.visible": False,
        "ytick.minor.visible": False,
        "legend.frameon": False,
        "figure.facecolor": LIGHT["surface"],
        "axes.facecolor": LIGHT["surface"],
        "savefig.bbox": "tight",
        "savefig.pad_inches": 0.08,
        "svg.fonttype": "none",  # text stays text: small, sharp, readable by screen readers
        "svg.hashsalt": "espalier",  # the same data give the same bytes
    }
)


def css_variables(dark: bool) -> str:
    return " ".join(f"--{name}: {colours[dark]};" for name, colours in PALETTE.items())


def svg_text(figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def inline(svg: str, identity: str, label: str) -> str:
    """The SVG for the page: colours as variables, identifiers unique on it, scaled to its container."""
    for name, (light, _) in PALETTE.items():
        svg = svg.replace(light, f"var(--{name})")
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{identity}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{identity}-\1)", svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{identity}-\1"', svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.S)  # would apply to the whole page
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)  # the page's own typeface
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    head, rest = svg.split(">", 1)
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', head)[1])
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    return f'{head} role="img" aria-label="{label}" style="max-width: {width * 1.45:.0f}px">{rest}'
