"""The section of a function: its parameters, what it answers and when, where it is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from cudla_sim.families import FAMILIES

from . import answers as analysis
from . import snippets
from .origins import Origins
from .tables import code, plain, table

ROOT = Path(__file__).resolve().parents[2]
MOST = 4
"""Causes that are shown of one status; the page of statuses has the others."""
_FENCE = re.compile(r"^```\w.*?^```", re.MULTILINE | re.DOTALL)
_SAMPLES = (".c", ".cpp", ".h", ".py")


@cache
def answers(family: str) -> dict[str, analysis.Answer]:
    """Of the functions of a family, by their names."""
    found: dict[str, analysis.Answer] = {}
    for part in next(f for f in FAMILIES if f.name == family).answers:
        module = import_module(f"cudla_sim.constants.{family}")
        kind = getattr(module, part.enumeration)
        members = {name: int(member) for name, member in kind.__members__.items()}
        for name, answer in analysis.find(family, members).items():
            kept = found.setdefault(name, answer)
            kept.causes |= answer.causes
    return found


def section(
    function: Any,
    answers: Mapping[str, analysis.Answer],
    text_of: Callable[[Any], str],
    origins: Origins,
) -> list[str]:
    """Markdown below a header's table. *answers*: of the page's functions by their names."""
    answer = answers.get(function.name)
    prototype = text_of(function.decl).removeprefix("extern ")
    lines = [f"### {function.name} {{ #{function.name.lower()} }}", ""]
    lines += ["```c", _broken(prototype), "```", ""]
    rows = []
    for index, param in enumerate(function.params):
        name = getattr(param, "name", None) or f"#{index + 1}"
        kind = text_of(param.type) if hasattr(param, "type") else "..."
        direction = _direction(kind, index, answer)
        makers = origins.of(function, param) if direction == "in" else []
        given = ", ".join(
            f"[{code(maker)}](#{maker.lower()})" if maker in answers else code(maker)
            for maker in makers
        )
        rows.append((code(name), direction, code(kind), given))
    if any(row[-1] for row in rows):
        lines += [*table(("parameter", "direction", "type", "comes from"), rows), ""]
    elif rows:
        lines += [*table(("parameter", "direction", "type"), [row[:-1] for row in rows]), ""]
    if answer is not None and answer.causes:
        lines += [*table(("answers", "when"), _causes(answer)), ""]
    if called := snippets.of(function.name):
        text, source = called
        lines += ["```c", text, "```", "", f"From {code(str(source))}.", ""]
    places = used_in().get(function.name, [])
    if places:
        lines += ["Used in " + ", ".join(places) + ".", ""]
    return lines


def _broken(prototype: str) -> str:
    """A parameter a line where one line is too long."""
    if len(prototype) <= 90:
        return prototype + ";"
    head, _, rest = prototype.partition("(")
    return f"{head}(\n    " + rest.replace(", ", ",\n    ") + ";"


def _direction(kind: str, index: int, answer: analysis.Answer | None) -> str:
    """By what the handler does, and by what the type lets it do."""
    pointer = "*" in kind or "[" in kind
    if not pointer or re.match(r"const [\w ]+\*$", kind):
        return "in"
    if answer is None or index not in answer.written | answer.read:
        return "in" if kind.startswith("const ") else "out, or in and out"
    if index in answer.written:
        return "in, out" if index in answer.read else "out"
    return "in"


def _causes(answer: analysis.Answer) -> list[tuple[str, str]]:
    rows = []
    for status, texts in answer.causes.items():
        more = [f"and {len(texts) - MOST} more"] if len(texts) > MOST else []
        shown = [plain(text) for text in texts[:MOST]]
        rows.append((code(status), "<br>".join([*shown, *more])))
    return rows


@cache
def used_in() -> dict[str, list[str]]:
    """Function -> pages whose programs call it (their blocks are run by the tests), and samples."""
    found: dict[str, dict[str, None]] = {}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text()
        title = next((x[2:] for x in text.splitlines() if x.startswith("# ")), page.stem)
        place = f"[{title}](../../{page.relative_to(ROOT / 'docs')})"
        for block in _FENCE.findall(text):
            for name in re.findall(r"\b(\w+)\(", block):
                found.setdefault(name, {})[place] = None
    for source in sorted((ROOT / "c_examples").rglob("*")):
        if source.suffix in _SAMPLES:
            for name in re.findall(r"\b(\w+)\(", source.read_text()):
                place = code(str(source.relative_to(ROOT)))
                found.setdefault(name, {})[place] = None
    return {name: list(places)[:5] for name, places in found.items()}
