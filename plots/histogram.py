"""Draws what `espalier histogram --json` prints.

usage: espalier histogram --json FILE | plots/histogram.py -o histogram.svg [--log]
"""

import argparse
import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MultipleLocator

from figures import WIDTH, amount, short
from theme import LIGHT, svg_text


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
