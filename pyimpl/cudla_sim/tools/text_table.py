"""Tables for people: aligned columns, folded to a terminal's width, whole in a pipe or file."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

import click

from ..core.text import printable

_GAP = "  "
_LEAST = 8
"""Characters that a folded column keeps."""


@dataclass(slots=True)
class Table:
    """Rows of words under headings. ``right`` holds the columns that are aligned to the right."""

    headings: Sequence[str]
    right: frozenset[int] = frozenset()
    rows: list[tuple[str, ...]] = field(default_factory=list)
    colors: dict[str, str] = field(default_factory=dict)
    """A word that stands alone in a cell -> its colour on a terminal."""

    def add(self, *cells: str) -> None:
        """Appends a row; it has a cell for each heading."""
        if len(cells) != len(self.headings):
            raise ValueError(f"{len(cells)} cells under {len(self.headings)} headings")
        self.rows.append(tuple(printable(cell) for cell in cells))

    def lines(self, width: int | None = None, color: bool = False) -> list[str]:
        """The table. *width* characters fold the widest columns; None: nothing is folded."""
        shown = [tuple(self.headings), *self.rows] if any(self.headings) else self.rows
        if not shown:
            return []
        widths = [max(len(row[i]) for row in shown) for i in range(len(self.headings))]
        if width is not None:
            _fit(widths, width)
        lines = []
        for number, row in enumerate(shown):
            head = number == 0 and any(self.headings)
            lines += self._folded(row, widths, color, head)
        return lines

    def _folded(
        self, row: tuple[str, ...], widths: list[int], color: bool, head: bool
    ) -> list[str]:
        cells = [
            textwrap.wrap(cell, width, break_on_hyphens=False) or [""]
            if len(cell) > width
            else [cell]
            for cell, width in zip(row, widths, strict=True)
        ]
        lines = []
        for depth in range(max(map(len, cells))):
            words = []
            for i, cell in enumerate(cells):
                text = cell[depth] if depth < len(cell) else ""
                padded = text.rjust(widths[i]) if i in self.right else text.ljust(widths[i])
                if color and head:
                    padded = click.style(padded, bold=True)
                elif color and row[i] in self.colors:
                    padded = padded.replace(text, click.style(text, fg=self.colors[row[i]]))
                words.append(padded)
            lines.append(_GAP.join(words).rstrip())
        return lines

    def show(self, file: IO[str] | None = None) -> None:
        """Prints the table, in colour and folded on a terminal (not with NO_COLOR)."""
        file = file or sys.stdout
        if not self.rows:
            return
        terminal = file.isatty()
        width = shutil.get_terminal_size().columns if terminal else None
        color = terminal and not os.environ.get("NO_COLOR")
        print("\n".join(self.lines(width, color)), file=file)


def _fit(widths: list[int], width: int) -> None:
    """Takes from the widest column until the rest fits, or no column can give more."""
    room = width - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda i: widths[i])
        if widths[widest] <= _LEAST:
            return
        widths[widest] -= 1
