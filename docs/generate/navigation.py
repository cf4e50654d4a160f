"""The parts of the site's navigation that follow from the APIs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cudla_sim.families import FAMILIES

DOCS = Path(__file__).resolve().parents[1]
_FIRST, _LAST = ("tutorial.md", "porting.md"), ("differences.md",)


def _order(name: str) -> tuple[int, str]:
    """Where a page of an API stands among its pages."""
    if name in _FIRST:
        return _FIRST.index(name), name
    return (len(_FIRST) + (name in _LAST)), name


def complete(nav: list[Any], docs: Path = DOCS) -> list[Any]:
    """Returns ``nav`` with a list of all functions under *Reference*, and, before *Tools*, a section
    for each API whose folder ``docs`` has and no section names."""
    listed = repr(nav)
    sections = []
    for family in FAMILIES:
        pages = sorted((p.name for p in (docs / family.name).glob("*.md")), key=_order)
        if pages and f"{family.name}/" not in listed:
            sections.append({family.title: [f"{family.name}/{page}" for page in pages]})
    functions = [{f.title: f"reference/functions/{f.name}.md"} for f in FAMILIES]
    found: list[Any] = []
    for entry in nav:
        ((title, pages),) = entry.items()
        if title == "Tools":
            found += sections
        found.append({title: [*pages, {"Functions": functions}]} if title == "Reference" else entry)
    return found
