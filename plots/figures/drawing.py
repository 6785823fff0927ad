"""A figure before it is drawn, and the caption that is filed beside it."""

import re
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from results import Device, Family


class Skipped(Exception):
    """Why a figure is not drawn."""


@dataclass
class Drawing:
    name: str  # of its file, without the ending
    draw: Callable  # makes the figure, or raises Skipped
    caption: str
    families: list[Family] = field(default_factory=list)  # whose records it shows


def dates(sessions: list[str]) -> str:
    """From when to when sessions such as 20261124T165742Z-3caccab3 ran."""
    days = sorted({f"{found[1]}-{found[2]}-{found[3]}" for session in sessions
                   if (found := re.match(r"(\d{4})-?(\d{2})-?(\d{2})T", session))})
    if not days:
        return "not on record"
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def caption_text(drawing: Drawing, device: Device) -> str:
    """What the figure shows, and where its numbers come from."""
    provenance = sum((family.provenance for family in drawing.families), Counter())
    drivers, builds, _, sessions = (sorted(set(column)) for column in zip(*provenance)) if provenance else ([],) * 4
    rows = [f"{sum(len(family.cases) for family in drawing.families):,} ("
            + ", ".join(dict.fromkeys(family.name for family in drawing.families)) + ")"]
    facts = {"device": [f"{device.name} ({device.key})"], "driver": drivers, "rows of results": rows,
             "measured": [dates(sessions)], "program": builds}
    lines = [f"{name}: {'; '.join(values) or 'not on record'}" for name, values in facts.items()]
    return textwrap.fill(drawing.caption, 100) + "\n\n" + "\n".join(lines) + "\n"
