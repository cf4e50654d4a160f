"""The figures of the page, for Plotly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from .page import Figure

MAX_BARS = 20_000
"""A timeline of more is slow to move in a browser; the longest are kept."""
COLOURS = (
    *("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#ff9da6", "#9d755d"),
    *("#eeca3b", "#bab0ac"),
)


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


def graph(
    nodes: dict[str, str],
    edges: Sequence[tuple[str, str, str, bool]],
    groups: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
) -> Figure:
    """Boxes from top to bottom: a node lies below everything it reads. ``edges``: (source, target,
    label, fused). *groups*: of nodes, each with a colour and a line of the legend; *keys*: of the
    rows and bars that mean the same."""
    place = _places(nodes, edges)
    data: list[dict[str, Any]] = []
    for fused, name in ((False, "through memory"), (True, "on the fly")):
        own = [e for e in edges if e[3] == fused and e[0] in place and e[1] in place]
        if not own:
            continue
        xs = [v for s, t, *_ in own for v in (place[s][0], place[t][0], None)]
        ys = [v for s, t, *_ in own for v in (place[s][1], place[t][1], None)]
        data.append(
            {
                "type": "scatter",
                "x": xs, "y": ys, "name": name, "mode": "lines", "hoverinfo": "skip",
                "line": {"color": "#54a24b" if fused else "#98a2ad", "width": 3 if fused else 1.5},
            }
        )  # fmt: skip
    middle = [((place[s][0] + place[t][0]) / 2, (place[s][1] + place[t][1]) / 2, x)
              for s, t, x, _ in edges if s in place and t in place]  # fmt: skip
    data.append(
        {
                "type": "scatter",
            "x": [m[0] for m in middle], "y": [m[1] for m in middle],
            "text": [f"{m[2]}\u2002" for m in middle],
            "mode": "text", "textfont": {"size": 9, "color": "#57606a"}, "hoverinfo": "skip",
            "showlegend": False, "textposition": "middle left",  # beside the line, not struck by it
        }
    )  # fmt: skip
    of_group: dict[str, list[str]] = {}
    for group in (groups or {}).values():  # in the order in which they are given
        of_group.setdefault(group, [])
    for name in nodes:
        of_group.setdefault((groups or {}).get(name, ""), []).append(name)
    for (group, members), colour in zip(of_group.items(), cycle(COLOURS), strict=False):
        texts = [nodes[name] for name in members]
        data.append(
            {
                "type": "scatter",
                "x": [place[n][0] for n in members], "y": [place[n][1] for n in members],
                "text": [_short(text) for text in texts], "hovertext": texts, "hoverinfo": "text",
                "customdata": [(keys or {}).get(name, "") for name in members],
                "name": group, "mode": "markers+text", "textposition": "middle right",
                "showlegend": bool(group), "textfont": {"size": 11},
                "marker": {"size": 12, "symbol": "square", "color": colour},
            }
        )  # fmt: skip
    depth = 1 + max((-y for _, y in place.values()), default=0)
    layout = _layout(int(min(120 + 46 * depth, 2400)), "") | {"dragmode": "pan"}
    width = 1.5 + max(x for x, _ in place.values())
    layout["xaxis"] |= {"visible": False, "range": [-0.5, width]}
    layout["yaxis"]["visible"] = False
    return Figure(data, layout)


def _short(text: str) -> str:
    return text if len(text) <= 44 else text[:43] + "…"


def _places(
    nodes: dict[str, str], edges: Sequence[tuple[str, str, str, bool]]
) -> dict[str, tuple[float, float]]:
    """Layer by longest path from the inputs (nodes are in order of execution), side by side in a
    layer in the order of what they read."""
    depth = dict.fromkeys(nodes, 0)
    for name in nodes:
        before = [depth[s] + 1 for s, t, *_ in edges if t == name and s in depth and s != name]
        depth[name] = max(before, default=0)
    found: dict[str, tuple[float, float]] = {}
    used: dict[int, set[float]] = {}
    for name in nodes:
        left = [found[s][0] for s, t, *_ in edges if t == name and s in found]
        column = min(left, default=0.0)
        taken = used.setdefault(depth[name], set())
        while column in taken:
            column += 1
        taken.add(column)
        found[name] = column, -depth[name]
    return found
