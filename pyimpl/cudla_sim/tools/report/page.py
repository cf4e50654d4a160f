"""One HTML page that needs no network: facts, tables that sort, figures that zoom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NEEDS_PLOTLY = "it draws with Plotly, which is not installed: pip install 'cudla-sim[report]'"

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
        body = "\n".join(f"<tr>{line}</tr>" for line in lines)
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
class Section:
    """``figures`` are Plotly's; ``name`` is the section's id, by which figures are found."""

    title: str
    name: str
    text: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    figures: list[Any] = field(default_factory=list)
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
            figure.to_html(
                full_html=False,
                include_plotlyjs=False,
                div_id=f"{self.name}-figure-{index}",
                config={"displaylogo": False, "responsive": True, "scrollZoom": True},
            )
            for index, figure in enumerate(self.figures)
        ]
        parts += [table.html() for table in self.tables]
        return "\n".join([*parts, "</section>"])


@dataclass
class Page:
    """A title, a line below it, sections in order; a section without content is left out."""

    title: str
    subtitle: str
    sections: list[Section] = field(default_factory=list)

    def html(self) -> str:
        """The whole page, with Plotly's script in it. Raises ReportError without Plotly."""
        script = plotly_script()
        style, sorting = (HERE / "page.css").read_text(), (HERE / "table.js").read_text()
        shown = [s for s in self.sections if s.text or s.facts or s.figures or s.tables]
        body = "\n".join(section.html() for section in shown)
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<link rel="icon" href="data:,">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{style}</style>\n"
            f"<script>{script}</script></head>\n<body>\n<h1>{escape(self.title)}</h1>\n"
            f'<p class="note">{escape(self.subtitle)}</p>\n{body}\n'
            f"<script>\n{sorting}</script>\n</body></html>\n"
        )


def plotly_script() -> str:
    """Plotly's JavaScript. Raises ReportError when Plotly is missing."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ReportError(NEEDS_PLOTLY) from None
    return str(get_plotlyjs())
