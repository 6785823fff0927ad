#!/usr/bin/python3
"""Draws a device's results as figures for papers, <figure>.svg with a caption <figure>.txt beside each.

usage: draw.py --results FOLDER --exports FOLDER --output FOLDER --device KEY [--format svg|pdf|png]

Measurements come from --exports, where `espalier figures` wrote them as tables; printed figures from --results.
Exit codes as those of the command line: 0 fine, 2 usage, 4 bad data.
"""

import argparse
import gc
import multiprocessing
import os
import sys
from pathlib import Path

import results
from replaced import exit_on_signals, replace

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    sys.exit(f"figures: {error.name} is missing. Install it: apt-get install python3-matplotlib")

from figures import counters, printed, regret, roofline, times, tree, winners  # noqa: E402
from figures.drawing import Drawing, Skipped, caption_text  # noqa: E402
from figures.style import file_of  # noqa: E402

# What the processes that draw share: they are forked when it is set.
_shared: dict = {}


def all_drawings(device: results.Device, folder: Path, exports: Path) -> list[Drawing]:
    apart = folder / "published" / device.key
    suite = results.load_device(apart, exports / "published" / device.key).families if apart.is_dir() else {}
    found = [drawing for module in (winners, times, roofline, counters, regret) for drawing in module.drawings(device)]
    return found + tree.drawings(device, folder, exports) + printed.drawings(device, folder, exports, suite)


def draw(place: int) -> tuple[str, str]:
    """Draws one figure: its name, and why it is skipped."""
    drawing: Drawing = _shared["drawings"][place]
    output, form = _shared["output"], _shared["format"]
    try:
        content = file_of(drawing.draw(), form)
    except Skipped as reason:
        return drawing.name, str(reason)
    replace(output / f"{drawing.name}.{form}", content)
    replace(output / f"{drawing.name}.txt", caption_text(drawing, _shared["device"]))
    return drawing.name, ""


def remove_skipped(output: Path, name: str, form: str) -> None:
    """An earlier figure of that name is of other results."""
    for ending in (form, "txt"):
        (output / f"{name}.{ending}").unlink(missing_ok=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("results", "exports", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--format", choices=("svg", "pdf", "png"), default="svg")
    options = parser.parse_args(arguments)
    folder = options.results / options.device
    device = results.load_device(folder, options.exports / options.device) if folder.is_dir() else None
    if device is None or not device.families:
        known = sorted(path.parent.name for path in options.results.glob("*/device.json"))
        print(results.printable(f"figures: no results of {options.device} in {options.results}; there are: "
                                f"{', '.join(known) or 'none'}"), file=sys.stderr)
        return 4
    for text in device.errors:
        print(results.printable(f"figures: {device.key}: {text}"), file=sys.stderr)
    options.output.mkdir(parents=True, exist_ok=True)
    drawings = all_drawings(device, options.results, options.exports)
    _shared.update(drawings=drawings, device=device, output=options.output, format=options.format)
    # A process for each figure: matplotlib's caches must not let one figure depend on those before it.
    with multiprocessing.get_context("fork").Pool(min(4, os.cpu_count() or 1), maxtasksperchild=1) as pool:
        outcomes = pool.map(draw, range(len(drawings)), chunksize=1)
        # Left at once, a process that is ended by force may hold the lock of a queue for which another waits forever.
        pool.close()
        pool.join()
    for name, skipped in outcomes:
        if skipped:
            remove_skipped(options.output, name, options.format)
            print(results.printable(f"figures: {name} is skipped: {skipped}"), file=sys.stderr)
        else:
            print(results.printable(str(options.output / f"{name}.{options.format}")))
    return 0 if any(not skipped for _, skipped in outcomes) else 4


if __name__ == "__main__":
    exit_on_signals()
    gc.disable()  # 5 to 9% of the time; a process that draws one figure ends before its cycles matter
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, results.Unusable) as failure:
        print(f"figures: {results.printable(str(failure))}: check the path, its permissions and the disk", file=sys.stderr)
        sys.exit(4)
