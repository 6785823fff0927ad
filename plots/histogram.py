"""Draws what `espalier histogram --json` prints.

usage: espalier histogram --json FILE | plots/histogram.py -o histogram.svg [--log]
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

from figures import amount, short  # noqa: E402
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


def read(text: str) -> dict:
    """The object that the command prints; SystemExit with the reason for anything else."""
    try:
        found = json.loads(text)
        counts = found["counts"]
        if len(counts) != 256 or not all(isinstance(count, int) and count >= 0 for count in counts):
            raise ValueError("counts are not 256 whole numbers")
        found["entropy_bits"] = float(found["entropy_bits"])
        return found
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SystemExit(f"histogram.py: no output of espalier histogram --json on stdin: {error}") from None


def draw(found: dict, log: bool):
    figure, plane = plt.subplots(figsize=(WIDTH, 3))
    plane.bar(range(256), found["counts"], width=1, color=LIGHT["s0"], log=log and any(found["counts"]))
    plane.set_xlim(-0.5, 255.5)
    plane.xaxis.set_major_locator(MultipleLocator(16))
    plane.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    plane.yaxis.set_major_formatter(FuncFormatter(lambda value, _: amount(value)))
    plane.set_xlabel("value of a byte")
    plane.set_ylabel("count")
    plane.set_title(f"{short(found.get('file', ''), 60)}: {amount(sum(found['counts']))} bytes, "
                    f"{found['entropy_bits']:.2f} bits of entropy each")
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
