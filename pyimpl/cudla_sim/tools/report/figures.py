"""The figures of the page, for Plotly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .colours import COLOURS
from .page import Figure

MAX_BARS = 20_000
"""A timeline of more is slow to move in a browser; the longest are kept."""


class Bar(NamedTuple):
    """Something that took time on a track; ``group`` gives colour and legend, ``key`` is that of
    the row and the box that mean the same."""

    track: str
    begin: float
    end: float
    group: str
    text: str
    key: str = ""


class Box(NamedTuple):
    """Bytes [low, high) in use from begin to end."""

    begin: float
    end: float
    low: int
    high: int
    group: str
    text: str


GRID = "rgba(128, 136, 148, 0.3)"
"""Lines that are seen on white and on black."""


def _colours(groups: Sequence[str]) -> dict[str, str]:
    return {g: COLOURS[i % len(COLOURS)] for i, g in enumerate(dict.fromkeys(groups))}


def _layout(height: int, x: str, y: str = "") -> dict[str, Any]:
    return {
        "height": height,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "colorway": list(COLOURS),
        "margin": {"l": 10, "r": 10, "t": 30, "b": 40},
        "xaxis": {
            "title": {"text": x},
            "exponentformat": "none",
            "gridcolor": GRID,
            "zerolinecolor": GRID,
        },  # no "50µ" before "ms"
        "yaxis": {"title": {"text": y}, "automargin": True, "gridcolor": GRID, "zeroline": False},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "dragmode": "zoom",
        "hoverlabel": {"align": "left"},
    }


def longest(bars: Sequence[Bar]) -> tuple[list[Bar], int]:
    """The bars that are drawn, and how many are left out."""
    if len(bars) <= MAX_BARS:
        return list(bars), 0
    kept = sorted(bars, key=lambda b: b.begin - b.end)[:MAX_BARS]
    return sorted(kept, key=lambda b: b.begin), len(bars) - MAX_BARS


def timeline(
    bars: Sequence[Bar], unit: str, arrows: Sequence[tuple[str, float, str, float]] = ()
) -> Figure:
    """A row a track; ``arrows``: (track, time, track, time) from signals to waits."""
    tracks = list(dict.fromkeys(b.track for b in bars))
    data: list[dict[str, Any]] = []
    for group, colour in _colours([b.group for b in bars]).items():
        own = [b for b in bars if b.group == group]
        data.append(
            {
                "type": "bar",
                "name": group,
                "orientation": "h",
                "y": [b.track for b in own],
                "base": [b.begin for b in own],
                "x": [b.end - b.begin for b in own],
                "hovertext": [b.text for b in own],
                "hoverinfo": "text",
                "customdata": [b.key for b in own],
                "marker": {"color": colour, "line": {"width": 0.4, "color": "#fff"}},
            }
        )
    if arrows:
        points = [(x, y) for a, s, b, t in arrows for x, y in ((s, a), (t, b), (None, None))]
        data.append(
            {
                "type": "scatter",
                "name": "signal to wait",
                "x": [x for x, _ in points],
                "y": [y for _, y in points],
                "mode": "lines+markers",
                "line": {"color": "#d62728", "width": 1},
                "marker": {"symbol": "arrow", "angleref": "previous", "size": 7},
                "hoverinfo": "skip",
            }
        )
    layout = _layout(140 + 26 * len(tracks), unit) | {"barmode": "overlay"}
    order = {"categoryorder": "array", "categoryarray": tracks[::-1], "fixedrange": True}
    layout["yaxis"] |= order
    return Figure(data, layout)


def memory(boxes: Sequence[Box], unit: str) -> Figure:
    """Who needs which bytes when: a rectangle each."""
    data: list[dict[str, Any]] = []
    for group, colour in _colours([b.group for b in boxes]).items():
        xs: list[float | None] = []
        ys: list[float | None] = []
        texts: list[str | None] = []
        for b in (b for b in boxes if b.group == group):
            xs += [b.begin, b.end, b.end, b.begin, b.begin, None]
            ys += [b.low, b.low, b.high, b.high, b.low, None]
            texts += [b.text] * 5 + [None]
        data.append(
            {
                "type": "scatter",
                "name": group, "x": xs, "y": ys, "text": texts, "fill": "toself", "mode": "lines",
                "line": {"color": colour, "width": 1}, "hoverinfo": "text",
                "hoveron": "points+fills",
            }
        )  # fmt: skip
    return Figure(data, _layout(460, unit, "bytes"))


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[int | None]],
    what: str,
    title: str = "",
) -> Figure:
    """A cell for each row and column; None where there is none."""
    cell = {
        "type": "heatmap",
        "x": list(columns),
        "y": list(rows),
        "z": [list(row) for row in cells],
        "colorscale": "Viridis",
        "hoverongaps": False,
        "colorbar": {"title": {"text": what}},
        "hovertemplate": "%{y} %{x}: %{z:,} " + what + "<extra></extra>",
    }
    layout = _layout(140 + 24 * max(len(rows), 4), "")
    layout["xaxis"]["type"] = "category"
    layout["yaxis"] |= {"type": "category", "autorange": "reversed"}
    if title:
        layout["title"] = {"text": title, "font": {"size": 13}}
    return Figure([cell], layout)
