"""Colours of the pages and figures, each for light and dark ground."""

import re

# name: (light, dark). Series are told apart by letter, marker or label too, never by colour alone.
PALETTE = {
    "ink": ("#1f2430", "#e8eaef"),
    "muted": ("#5f697d", "#98a1b3"),
    "grid": ("#e3e6ec", "#2c323e"),
    "surface": ("#ffffff", "#171a21"),
    "raised": ("#f4f6f9", "#20242e"),
    "other": ("#b9c0cc", "#4b5363"),
    "on-series": ("#fffffe", "#12151b"),  # text on a filled cell
    "good": ("#1b7a53", "#4fc796"),
    "bad": ("#a32626", "#ff9d97"),
    "bad-ground": ("#fdf1f0", "#33201f"),
    "s0": ("#2f6fb8", "#6aa9f0"),
    "s1": ("#c4640f", "#f0a05a"),
    "s2": ("#1f8a5f", "#4fc796"),
    "s3": ("#b3478c", "#e689c3"),
    "s4": ("#6a57c2", "#a99bf2"),
    "s5": ("#128391", "#50c6d3"),
    "s6": ("#8c6c14", "#d8b84f"),
    "s7": ("#c23b3b", "#f28482"),
}
LIGHT = {name: light for name, (light, _) in PALETTE.items()}
SERIES = [name for name in PALETTE if re.fullmatch(r"s\d", name)]


def css_variables(dark: bool) -> str:
    return " ".join(f"--{name}: {colours[dark]};" for name, colours in PALETTE.items())
