"""Tables of ``cudla-sim compile --accuracy``."""

from __future__ import annotations

from ..compiler.accuracy import Accuracy
from .text_table import Table

_FIGURES = ("SQNR dB", "cosine", "largest error")
_CENTRED = ("centred dB", "centred cosine")


def tables(accuracy: Accuracy) -> list[Table]:
    """Outputs and layers for a terminal."""
    made = []
    for title, rows in (("output", accuracy.outputs), ("layer, worst first", accuracy.layers)):
        if not rows:
            continue
        figures = (*_FIGURES, *_CENTRED) if rows is accuracy.outputs else _FIGURES
        table = Table((title, *figures, "nodes"), right=frozenset(range(1, len(figures) + 1)))
        for row in rows:
            words = [row.name, f"{row.sqnr:.1f}", f"{row.cosine:.5f}", f"{100 * row.largest:.2f} %"]
            if rows is accuracy.outputs:
                words += [_text(row.centred_sqnr, 1), _text(row.centred_cosine, 4)]
            table.add(*words, " + ".join(row.nodes))
        made.append(table)
    return made


def _text(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
