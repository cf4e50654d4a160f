"""The figures of the page, made with Plotly. Raises ReportError without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from .page import NEEDS_PLOTLY, ReportError

MAX_BARS = 20_000
"""A timeline of more is slow to move in a browser; the longest are kept."""
COLOURS = (
    *("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#ff9da6", "#9d755d"),
    *("#eeca3b", "#bab0ac"),
)


class Bar(NamedTuple):
    """Something that took time on a track; ``group`` gives colour and legend."""

    track: str
    begin: float
    end: float
    group: str
    text: str


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


def _objects() -> Any:
    try:
        import plotly.graph_objects as objects
    except ImportError:
        raise ReportError(NEEDS_PLOTLY) from None
    return objects


def _colours(groups: Sequence[str]) -> dict[str, str]:
    return {g: COLOURS[i % len(COLOURS)] for i, g in enumerate(dict.fromkeys(groups))}


def _layout(height: int, x: str, y: str = "") -> dict[str, Any]:
    return {
        "height": height,
        "template": "plotly_white",
        "margin": {"l": 10, "r": 10, "t": 30, "b": 40},
        "xaxis": {
            "title": {"text": x},
            "exponentformat": "none",
            "gridcolor": GRID,
        },  # no "50µ" before "ms"
        "yaxis": {"title": {"text": y}, "automargin": True, "gridcolor": GRID},
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
) -> Any:
    """A row a track; ``arrows``: (track, time, track, time) from signals to waits."""
    objects = _objects()
    tracks = list(dict.fromkeys(b.track for b in bars))
    figure = objects.Figure()
    for group, colour in _colours([b.group for b in bars]).items():
        own = [b for b in bars if b.group == group]
        figure.add_trace(
            objects.Bar(
                name=group,
                orientation="h",
                y=[b.track for b in own],
                base=[b.begin for b in own],
                x=[b.end - b.begin for b in own],
                hovertext=[b.text for b in own],
                hoverinfo="text",
                marker={"color": colour, "line": {"width": 0.4, "color": "#fff"}},
            )
        )
    if arrows:
        points = [(x, y) for a, s, b, t in arrows for x, y in ((s, a), (t, b), (None, None))]
        figure.add_trace(
            objects.Scatter(
                name="signal to wait",
                x=[x for x, _ in points],
                y=[y for _, y in points],
                mode="lines+markers",
                line={"color": "#d62728", "width": 1},
                marker={"symbol": "arrow", "angleref": "previous", "size": 7},
                hoverinfo="skip",
            )
        )
    figure.update_layout(**_layout(140 + 26 * len(tracks), unit), barmode="overlay")
    figure.update_yaxes(categoryorder="array", categoryarray=tracks[::-1], fixedrange=True)
    return figure


def memory(boxes: Sequence[Box], unit: str) -> Any:
    """Who needs which bytes when: a rectangle each."""
    objects = _objects()
    figure = objects.Figure()
    for group, colour in _colours([b.group for b in boxes]).items():
        xs: list[float | None] = []
        ys: list[float | None] = []
        texts: list[str | None] = []
        for b in (b for b in boxes if b.group == group):
            xs += [b.begin, b.end, b.end, b.begin, b.begin, None]
            ys += [b.low, b.low, b.high, b.high, b.low, None]
            texts += [b.text] * 5 + [None]
        figure.add_trace(
            objects.Scatter(
                name=group, x=xs, y=ys, text=texts, fill="toself", mode="lines",
                line={"color": colour, "width": 1}, hoverinfo="text", hoveron="points+fills",
            )
        )  # fmt: skip
    figure.update_layout(**_layout(460, unit, "bytes"))
    return figure


def heat_map(rows: Sequence[str], columns: Sequence[str], cells: Any, what: str) -> Any:
    """A cell for each row and column; None where there is none."""
    objects = _objects()
    figure = objects.Figure(
        objects.Heatmap(
            x=list(columns), y=list(rows), z=cells, colorscale="Viridis", hoverongaps=False,
            colorbar={"title": {"text": what}},
            hovertemplate="%{y} %{x}: %{z:,} " + what + "<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(**_layout(140 + 24 * max(len(rows), 4), ""))
    figure.update_xaxes(type="category")
    figure.update_yaxes(type="category", autorange="reversed")
    return figure


def graph(
    nodes: dict[str, str],
    edges: Sequence[tuple[str, str, str, bool]],
    groups: Mapping[str, str] | None = None,
) -> Any:
    """Boxes from top to bottom: a node lies below everything it reads. ``edges``: (source, target,
    label, fused). *groups*: of nodes, each with a colour and a line of the legend."""
    objects = _objects()
    place = _places(nodes, edges)
    figure = objects.Figure()
    for fused, name in ((False, "through memory"), (True, "on the fly")):
        own = [e for e in edges if e[3] == fused and e[0] in place and e[1] in place]
        if not own:
            continue
        xs = [v for s, t, *_ in own for v in (place[s][0], place[t][0], None)]
        ys = [v for s, t, *_ in own for v in (place[s][1], place[t][1], None)]
        figure.add_trace(
            objects.Scatter(
                x=xs, y=ys, name=name, mode="lines", hoverinfo="skip",
                line={"color": "#54a24b" if fused else "#98a2ad", "width": 3 if fused else 1.5},
            )
        )  # fmt: skip
    middle = [((place[s][0] + place[t][0]) / 2, (place[s][1] + place[t][1]) / 2, x)
              for s, t, x, _ in edges if s in place and t in place]  # fmt: skip
    figure.add_trace(
        objects.Scatter(
            x=[m[0] for m in middle], y=[m[1] for m in middle],
            text=[f"{m[2]}\u2002" for m in middle],
            mode="text", textfont={"size": 9, "color": "#57606a"}, hoverinfo="skip",
            showlegend=False, textposition="middle left",  # beside the line, not struck by it
        )
    )  # fmt: skip
    of_group: dict[str, list[str]] = {}
    for name in nodes:
        of_group.setdefault((groups or {}).get(name, ""), []).append(name)
    for (group, members), colour in zip(of_group.items(), cycle(COLOURS), strict=False):
        texts = [nodes[name] for name in members]
        figure.add_trace(
            objects.Scatter(
                x=[place[n][0] for n in members], y=[place[n][1] for n in members],
                text=[_short(text) for text in texts], hovertext=texts, hoverinfo="text",
                name=group, mode="markers+text", textposition="middle right",
                showlegend=bool(group), textfont={"size": 11},
                marker={"size": 12, "symbol": "square", "color": colour},
            )
        )  # fmt: skip
    depth = 1 + max((-y for _, y in place.values()), default=0)
    figure.update_layout(**_layout(int(min(120 + 46 * depth, 2400)), ""))
    figure.update_layout(dragmode="pan")
    figure.update_xaxes(visible=False, range=[-0.5, 1.5 + max(x for x, _ in place.values())])
    figure.update_yaxes(visible=False)
    return figure


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
