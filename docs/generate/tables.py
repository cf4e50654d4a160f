"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; ``|`` in cells is escaped, line ends become spaces."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |"

    return [line(headings), "|" + "---|" * len(headings), *map(line, rows)]


def code(text: str) -> str:
    """Code in a cell."""
    return f"`{text}`" if text else ""
