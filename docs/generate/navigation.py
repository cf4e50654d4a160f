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
    """Returns ``nav`` with a list of all functions under *Reference*, and with the pages in the APIs'
    folders that it does not name: at the end of the API's section, or in one of its own before
    *Tools*."""
    listed = repr(nav)
    sections, missing = [], {}
    for family in FAMILIES:
        names = sorted((p.name for p in (docs / family.name).glob("*.md")), key=_order)
        pages = [f"{family.name}/{name}" for name in names]
        if f"{family.name}/" in listed:
            missing[family.name] = [page for page in pages if page not in listed]
        elif pages:
            sections.append({family.title: pages})
    functions = [{f.title: f"reference/functions/{f.name}.md"} for f in FAMILIES]
    found: list[Any] = []
    for entry in nav:
        ((title, pages),) = entry.items()
        if title == "Tools":
            found += sections
        owner = next((name for name in missing if f"'{name}/" in repr(pages)), "")
        more: list[Any] = list(missing.pop(owner, []))
        if title == "Reference":
            more.append({"Functions": functions})
        found.append({title: [*pages, *more]})
    return found
