"""Colours of groups in figures and graphs, in the order in which they are given away."""

COLOURS = (
    *("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#ff9da6", "#9d755d"),
    *("#eeca3b", "#bab0ac"),
)
