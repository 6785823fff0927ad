"""Figures for papers: one module per figure, each with `drawings(...)`, which lists what it can draw of a device."""
