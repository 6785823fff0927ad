"""Draws what `espalier histogram --json` prints.

usage: espalier histogram [--pixels] --json FILE | plots/histogram.py -o histogram.svg [--log]
"""

import argparse
import io
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, MultipleLocator  # noqa: E402

from quantities import amount, short  # noqa: E402
from theme import LIGHT  # noqa: E402

WIDTH = 9.4  # inches
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


def svg_text(figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def check(counted: dict) -> None:
    """Of a file, or of one channel of an image."""
    counts = counted["counts"]
    if len(counts) != 256 or not all(isinstance(count, int) and count >= 0 for count in counts):
        raise ValueError("counts are not 256 whole numbers")
    counted["entropy_bits"] = float(counted["entropy_bits"])


def read(text: str) -> dict:
    """The object that the command prints; SystemExit with the reason for anything else."""
    try:
        found = json.loads(text)
        for counted in found.get("channels", [found]):
            check(counted)
        return found
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SystemExit(f"histogram.py: no output of espalier histogram --json on stdin: {error}") from None


COLOURS = {"red": "#c0392b", "green": "#27824a", "blue": "#2c5fb3", "grey": "#666666", "alpha": "#b08d2e"}


def draw_bytes(plane, found: dict, log: bool) -> str:
    plane.bar(range(256), found["counts"], width=1, color=LIGHT["s0"], log=log and any(found["counts"]))
    plane.set_xlabel("value of a byte")
    return f"{amount(sum(found['counts']))} bytes, {found['entropy_bits']:.2f} bits of entropy each"


def draw_channels(plane, found: dict, log: bool) -> str:
    for counted in found["channels"]:
        name = str(counted.get("channel", ""))
        plane.stairs(counted["counts"], [value - 0.5 for value in range(257)], color=COLOURS.get(name, LIGHT["s0"]),
                     label=short(name, 12))
    if log and any(any(counted["counts"]) for counted in found["channels"]):
        plane.set_yscale("log")
    plane.legend()
    plane.set_xlabel("value of a pixel")
    return f"{amount(found.get('pixels', 0))} pixels"


def draw(found: dict, log: bool):
    figure, plane = plt.subplots(figsize=(WIDTH, 3))
    what = (draw_channels if "channels" in found else draw_bytes)(plane, found, log)
    plane.set_xlim(-0.5, 255.5)
    plane.xaxis.set_major_locator(MultipleLocator(16))
    plane.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    plane.yaxis.set_major_formatter(FuncFormatter(lambda value, _: amount(value)))
    plane.set_ylabel("count")
    plane.set_title(f"{short(found.get('file', ''), 60)}: {what}")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="file to write: .svg or .png")
    parser.add_argument("--log", action="store_true", help="logarithmic counts")
    arguments = parser.parse_args()
    if arguments.output.suffix not in (".svg", ".png"):
        parser.error(f"{arguments.output}: unknown ending; use .svg or .png")
    figure = draw(read(sys.stdin.read()), arguments.log)
    try:
        if arguments.output.suffix == ".svg":
            arguments.output.write_text(svg_text(figure), encoding="utf-8")
        else:
            figure.savefig(arguments.output, dpi=160, metadata={"Software": None})
    except OSError as error:
        raise SystemExit(f"histogram.py: {arguments.output} cannot be written: {error.strerror}") from None


if __name__ == "__main__":
    main()
