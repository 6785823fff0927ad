#!/usr/bin/python3
"""Takes the README's pictures, docs/images/report*.png, of a committed report. Needs chromium and python3-pil.

usage: plots/pictures.py [--report report/index.html] [--family distance]
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

ROOT = Path(__file__).resolve().parent.parent
WIDTH, MOST = 1200, 2600
MARGIN = 24
# What of the shown family stands on each picture, and how much of it at most.
PICTURES = {
    "report": (["lookup"], 1190),
    "report-winners": (["winners"], MOST),
    "report-times": (["times", "roofline"], MOST),
}


def only(text: str, views: list[str], heading: bool) -> str:
    """The report with nothing but these views of the family that is shown."""
    kept = ", ".join(f"[data-view={view}]" for view in views)
    style = (f"section.family > :not({kept}), section.device > :not(section.family), main > section:not(.device), footer "
             "{ display: none !important; }")
    if not heading:
        style += " main > :not(section) { display: none !important; }"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    return text.replace("</head>", f"<style>html {{ scroll-padding-top: 100vh !important; }} {style}</style></head>")


def trimmed(path: Path, most: int) -> Image.Image:
    """Without what is empty above and below, as a palette that has every series' colour."""
    image = Image.open(path).convert("RGB")
    empty = Image.new("RGB", image.size, image.getpixel((0, image.height - 1)))
    _, top, _, bottom = ImageChops.difference(image, empty).getbbox()
    cropped = image.crop((0, max(0, top - MARGIN), image.width, min(bottom + MARGIN, most)))
    return cropped.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", type=Path, default=ROOT / "report/index.html")
    parser.add_argument("--family", default="distance")
    options = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("pictures: no browser: apt-get install chromium")
    text = options.report.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder) / "page.html", Path(folder) / "shot.png"
        for name, (views, most) in PICTURES.items():
            page.write_text(only(text, views, heading=name == "report"), encoding="utf-8")
            subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            "--virtual-time-budget=8000", f"--window-size={WIDTH},{MOST}", f"--screenshot={shot}",
                            f"{page.as_uri()}#{options.report.stem}-{options.family}"], check=True, capture_output=True)
            target = ROOT / "docs/images" / f"{name}.png"
            trimmed(shot, most).save(target, optimize=True)
            print(target.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
