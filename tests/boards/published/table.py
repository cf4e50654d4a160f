"""The tables of docs/dla/times.md."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from cudla_sim.boards.timing.parameters import constants, parameters, spreads, transitions

from .fitting import LeftOut
from .rows import EXPECTED, MIXED

_SIGNS = {EXPECTED: " (e)", MIXED: " (g)"}
_MS = "| row | network | board, mode | batch | published, ms | here | off by | left out | inside |"


def off(found: float, published: float) -> str:
    return f"{100 * (found / published - 1):+.0f} %"


def markdown(found: Sequence[LeftOut]) -> str:
    lines = [_MS, "|---|---|---|---|---|---|---|---|---|"]
    for each in sorted(found, key=lambda each: each.case.row.id):
        row = each.case.row
        ms = each.case.ms(parameters())
        where = f"{row.clock:g} MHz" if row.clock else row.mode
        words = row.what + (", sparse" if row.sparse else "") + _SIGNS.get(row.kind, "")
        words += "" if row.int8 else ", FP16"
        words += f", {row.cores} cores" if row.cores > 1 else ""
        lines.append(
            f"| {row.id} | {words} | {row.board}{', ' * bool(where)}{where} | {row.batch} "
            f"| {row.ms:.4g} | {ms:.4g} | {off(ms, row.ms)} | {off(each.ms, row.ms)} "
            f"| {'yes' if each.inside else 'no'} |"
        )
    return "\n".join(lines) + "\n"


def constants_markdown() -> str:
    lines = ["| constant | value | what | origin | |", "|---|---|---|---|---|"]
    lines += [
        f"| `{c.name}` | {c.value:g} | {c.unit} | {c.origin} | {c.source} |" for c in constants()
    ]
    lines += [
        f"| `{name}` | {each.low:g} to {each.high:g}, {each.value:g} | ms for a tensor between GPU "
        "and DLA | measured by others | HaX-CoNN, Orin and Xavier |"
        for name, each in transitions().items()
    ]
    return "\n".join(lines) + "\n"


def spreads_markdown() -> str:
    lines = ["| what decides | factor up and down | left-out times behind it |", "|---|---|---|"]
    lines += [f"| {each.what} | {each.value:g} | {each.rows} |" for each in spreads().values()]
    return "\n".join(lines) + "\n"


def families_markdown(found: Sequence[LeftOut]) -> str:
    """The middle of the left-out errors of each network, and how many are inside."""
    lines = ["| network | rows | left out, median off by | inside |", "|---|---|---|---|"]
    for family in sorted({each.case.row.family for each in found}):
        rows = [each for each in found if each.case.row.family == family]
        middle = 100 * (median(each.ms / each.case.row.ms for each in rows) - 1)
        inside = sum(each.inside for each in rows)
        lines.append(f"| {family} | {len(rows)} | {middle:+.0f} % | {inside} of {len(rows)} |")
    return "\n".join(lines) + "\n"
