"""Status codes with what usually causes them: the explanations that the sources give."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from cudla_sim.families import FAMILIES

from .tables import code, table

PACKAGE = Path(__file__).resolve().parents[2] / "pyimpl" / "cudla_sim"
MOST = 6
"""Causes that are shown of one status."""


def _template(node: ast.expr) -> str:
    """A message with ... where values stand."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (str(v.value) if isinstance(v, ast.Constant) else "..." for v in node.values)
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _template(node.left) + _template(node.right)
    return ""


def _named(node: ast.AST, members: set[str]) -> str:
    """The status that an expression names."""
    if isinstance(node, ast.Attribute) and node.attr in members:
        return node.attr
    return ""


def _makers(trees: list[ast.Module], members: set[str]) -> dict[str, str]:
    """Functions that make an error of one status from a text: name -> status."""
    found = {}
    for tree in trees:
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or not node.args.args:
                continue
            last = node.body[-1]
            if isinstance(last, ast.Return | ast.Raise):
                call = last.value if isinstance(last, ast.Return) else last.exc
                if isinstance(call, ast.Call):
                    names = [s for s in (_named(a, members) for a in call.args) if s]
                    parameters = {a.arg for a in node.args.args}
                    passed = {a.id for a in call.args if isinstance(a, ast.Name)}
                    if len(names) == 1 and passed & parameters:
                        found[node.name] = names[0]
    return found


def causes(family: str, members: set[str]) -> dict[str, list[str]]:
    """Status -> explanations, as the sources of one API give them."""
    files = [
        file
        for place in (PACKAGE / family, PACKAGE / "abi" / family)
        for file in sorted(place.rglob("*.py"))
    ]
    files += [file for file in [PACKAGE / "abi" / f"{family}.py"] if file.exists()]
    trees = [ast.parse(file.read_text()) for file in files]
    makers = _makers(trees, members)
    found: dict[str, list[str]] = {}
    for tree in trees:
        for status, text in _calls(tree, makers, members):
            words = " ".join(text.split())
            if len(words) > 12 and words not in found.setdefault(status, []):
                found[status].append(words)
    return found


def _calls(
    tree: ast.Module, makers: dict[str, str], members: set[str]
) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        status = next((s for a in node.args if (s := _named(a, members))), makers.get(name, ""))
        text = next((t for a in node.args if (t := _template(a))), "")
        if status and text:
            yield status, text


def page() -> str:
    """The page."""
    lines = [
        "# Status codes",
        "",
        "What usually causes each, in the words of the explanations (`...` stands for values). "
        "`CUDLA_SIM_EXPLAIN=1` prints the explanation of each failing call, with the values. A "
        "status without causes is one that the simulator passes on or never has a reason for.",
        "",
    ]
    for family, answers in ((f, a) for f in FAMILIES for a in f.answers):
        module = import_module(f"cudla_sim.constants.{family.name}")
        members = {m.name: int(m) for m in getattr(module, answers.enumeration)}
        title = (
            family.title
            if answers is family.answers[0]
            else f"{family.title}: {answers.enumeration}"
        )
        known = causes(family.name, set(members))
        rows = []
        for name, value in members.items():
            found = known.get(name, [])
            text = "<br>".join(_plain(word) for word in found[:MOST])
            more = f"<br>and {len(found) - MOST} more" if len(found) > MOST else ""
            rows.append((code(name), str(value), text + more))
        lines += [f"## {title}", "", *table(("status", "value", "typical causes"), rows), ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    for old, new in (("&", "&amp;"), ("<", "&lt;"), ("*", "\\*"), ("_", "\\_"), ("`", "")):
        text = text.replace(old, new)
    return text
