"""What makes a page self-contained: templates that escape, the style sheet, one script that its hash lets run."""

import base64
import hashlib
import sys
from pathlib import Path

try:
    import jinja2
    from markupsafe import Markup
except ImportError as error:
    sys.exit(f"espalier: {error.name} is missing. Install it: apt-get install python3-jinja2")

import quantities
import theme

HERE = Path(__file__).resolve().parent


def environment() -> jinja2.Environment:
    found = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                               undefined=jinja2.StrictUndefined)
    found.filters.update(duration=quantities.duration, ratio=quantities.ratio, short=quantities.short, percent=quantities.percent)
    found.globals.update(light=Markup(theme.css_variables(dark=False)), dark=Markup(theme.css_variables(dark=True)),
                         style=Markup((HERE / "style.css").read_text(encoding="utf-8")))
    return found


def script(*names: str) -> Markup:
    """The page's own scripts as one; nothing of them is visible to anything else in the page."""
    parts = [(HERE / "page" / f"{name}.js").read_text(encoding="utf-8") for name in names]
    return Markup('(() => {\n"use strict";\n' + "".join(parts) + "})();\n")


def policy(code: str) -> str:
    """Lets the page's own script run, by its hash, and nothing else; loads nothing."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
