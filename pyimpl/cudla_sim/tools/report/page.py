"""One HTML page that needs no network: facts, tables that sort, figures that zoom."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from .graphs import LayerGraph

HERE = Path(__file__).parent
PLOTLY = HERE / "plotly" / "plotly-cartesian.min.js.gz"
"""The part of plotly.js that has bars, lines and heat maps (npm: plotly.js-cartesian-dist-min
4.1.1), as it lies in pages: with gzip, which browsers unpack."""
DAGRE = HERE / "dagre" / "dagre.min.js.gz"
"""What places the boxes of graphs (npm: @dagrejs/dagre 3.1.3), packed likewise."""

Cell = str | int | float | None


DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of figures that are of another kind than the programs write."""


class ReportError(Exception):
    """No page can be made; the text says why and what would help."""


@dataclass
class Table:
    """``columns``: (head, kind), kind is "text", "number" (shown with separators) or "percent"
    (a fraction). None is a cell without a value."""

    columns: list[tuple[str, str]]
    rows: list[Sequence[Cell]]
    keys: list[str] = field(default_factory=list)
    """Of the rows: bars and boxes with the same key are chosen with them."""

    def html(self) -> str:
        heads = "".join(
            f'<th data-kind="{"text" if kind == "text" else "number"}">'
            f'<button type="button">{escape(name)}</button></th>'
            for name, kind in self.columns
        )
        kinds = [kind for _, kind in self.columns]
        lines = (
            "".join(_cell(value, kind) for value, kind in zip(row, kinds, strict=True))
            for row in self.rows
        )
        keys = [f' data-key="{escape(key)}"' for key in self.keys] or [""] * len(self.rows)
        body = "\n".join(f"<tr{key}>{line}</tr>" for key, line in zip(keys, lines, strict=True))
        return (
            f'<div class="scroll"><table class="sortable"><thead><tr>{heads}</tr></thead>'
            f"<tbody>\n{body}\n</tbody></table></div>"
        )


def _cell(value: Cell, kind: str) -> str:
    if value is None:
        return '<td data-value=""></td>'
    if kind == "text" or isinstance(value, str):
        return f'<td data-value="{escape(str(value))}">{escape(str(value))}</td>'
    return f'<td class="number" data-value="{value!r}">{number(value, kind)}</td>'


def number(value: int | float, kind: str = "number") -> str:
    """A number for people: 12,345, 0.123, 4.5 %."""
    if kind == "percent":
        return f"{value:.1%}"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


@dataclass
class Figure:
    """What Plotly.newPlot takes. Source: plotly.js, figure reference."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]


@dataclass
class Section:
    """``name`` is the section's id, by which figures are found."""

    title: str
    name: str
    text: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    graphs: list[LayerGraph] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    def html(self) -> str:
        parts = [f'<section id="{self.name}"><h2>{escape(self.title)}</h2>']
        if self.facts:
            items = "".join(
                f"<li><b>{escape(value)}</b><span>{escape(name)}</span></li>"
                for name, value in self.facts
            )
            parts.append(f'<ul class="facts">{items}</ul>')
        parts += [f'<p class="note">{escape(line)}</p>' for line in self.text]
        parts += [
            f'<div class="figure" id="{name}" style="height: {figure.layout["height"]}px"></div>'
            for name, figure in self.named()
        ]
        parts += [f'<div class="graph" id="{name}"></div>' for name, _ in self.named_graphs()]
        parts += [table.html() for table in self.tables]
        return "\n".join([*parts, "</section>"])

    def named(self) -> list[tuple[str, Figure]]:
        """Figures with the ids of their elements."""
        return [(f"{self.name}-figure-{index}", f) for index, f in enumerate(self.figures)]

    def named_graphs(self) -> list[tuple[str, LayerGraph]]:
        """Graphs with the ids of their elements."""
        return [(f"{self.name}-graph-{index}", g) for index, g in enumerate(self.graphs)]


@dataclass
class Page:
    """A title, a line below it, sections in order; a section without content is left out."""

    title: str
    subtitle: str
    sections: list[Section] = field(default_factory=list)

    def html(self) -> str:
        """The whole page, with Plotly's script in it."""
        style, sorting = (HERE / "page.css").read_text(), (HERE / "table.js").read_text()
        shown = [s for s in self.sections if s.text or s.facts or s.figures or s.graphs or s.tables]
        body = "\n".join(section.html() for section in shown)
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<link rel="icon" href="data:,">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{style}</style></head>\n"
            f"<body>\n<h1>{escape(self.title)}</h1>\n"
            f'<p class="note">{escape(self.subtitle)}</p>\n{body}\n'
            f"<script>\n{sorting}</script>\n{_drawn(shown)}</body></html>\n"
        )


def _drawn(sections: Sequence[Section]) -> str:
    """The figures and graphs, and what draws them; nothing where there are none."""
    figures = {
        name: {"data": f.data, "layout": f.layout} for s in sections for name, f in s.named()
    }
    graphs = {name: g.data() for s in sections for name, g in s.named_graphs()}
    if not figures and not graphs:
        return ""
    text = json.dumps(figures | graphs, separators=(",", ":"), allow_nan=False)
    packed = [("figures", gzip.compress(text.encode(), mtime=0))]
    packed += [("plotly", PLOTLY.read_bytes())] if figures else []
    packed += [("dagre", DAGRE.read_bytes())] if graphs else []
    data = "".join(
        f'<script type="text/plain" id="{name}">{base64.b64encode(content).decode()}</script>\n'
        for name, content in packed
    )
    script = "".join((HERE / f"{name}.js").read_text() for name in ("choice", "graph", "figures"))
    return f"{data}<script>\n{script}</script>\n"
