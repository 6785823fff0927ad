#!/usr/bin/python3
"""Draws the committed figures, docs/images/, with `espalier figures`, or checks that they are what the results give.

usage: plots/pictures.py --program build/host/harness/espalier [--check]

Another release of matplotlib may place things otherwise: with one, --check ends with code 77, and compares nothing.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs/images"
DEVICE = "nvidia-h200"
RELEASE = "3.6."  # of matplotlib, Debian 12's
SKIPPED = 77


def drawn(program: Path, folder: Path) -> dict[str, bytes]:
    """By name the figures and captions of the device."""
    subprocess.run([program, "figures", "--results", ROOT / "results", "--device", DEVICE, "--output", folder], check=True,
                   stdout=subprocess.DEVNULL)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in (".svg", ".txt")}


def stale(found: dict[str, bytes], folder: Path) -> list[str]:
    """The names of files in `folder` that are not `found`, or are missing there."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    return sorted(name for name in found.keys() | before.keys() if found.get(name) != before.get(name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True, help="espalier")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a figure is not what it would be")
    arguments = parser.parse_args()
    if not matplotlib.__version__.startswith(RELEASE):
        print(f"the figures are drawn with matplotlib {RELEASE}*; here is {matplotlib.__version__}")
        return SKIPPED if arguments.check else 2
    with tempfile.TemporaryDirectory() as folder:
        found = drawn(arguments.program.resolve(), Path(folder))
    names = stale(found, IMAGES)
    if arguments.check:
        if names:
            print(f"not what the results give: {', '.join(names)}. Run plots/pictures.py and commit docs/images.")
        return int(bool(names))
    for name in names:
        if name in found:
            (IMAGES / name).write_bytes(found[name])
        else:
            (IMAGES / name).unlink()
    print("\n".join(names) if names else "every figure is current")
    return 0


if __name__ == "__main__":
    sys.exit(main())
