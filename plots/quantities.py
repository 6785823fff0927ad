"""How quantities are written: durations, amounts, ratios, shares."""

import math

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
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def ratio(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:.2f}×" if value < 99.5 else f"{value:,.0f}×"


def percent(share: float) -> str:
    if not math.isfinite(share):
        return "–"
    return f"{share * 100:.3g}%" if share >= 1e-5 else f"{share * 100:.0e}%"
