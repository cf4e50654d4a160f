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


def plain(text: str) -> str:
    """Text in a cell that shall look as it is."""
    for old, new in (("&", "&amp;"), ("<", "&lt;"), ("*", "\\*"), ("_", "\\_"), ("`", "")):
        text = text.replace(old, new)
    return text
