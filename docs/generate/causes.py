"""What causes each status: the explanations that the sources give, read without running them."""

from __future__ import annotations

import ast
from enum import IntEnum
from functools import cache
from importlib import import_module
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "pyimpl" / "cudla_sim"
_SHORTEST = 13
"""Texts below that are names, no explanations."""


def find(family: str, members: dict[str, int]) -> dict[str, list[str]]:
    """Status -> explanations of one API's sources, ``...`` where values stand."""
    reader = Reader(names(family, members))
    parsed = list(trees(family).values())
    for tree in parsed:
        reader.learn(tree)
    found: dict[str, list[str]] = {}
    for tree in parsed:
        for status, text in reader.calls(tree):
            words = " ".join(text.split()).removeprefix("not supported: ")
            if len(words) >= _SHORTEST and words not in found.setdefault(status, []):
                found[status].append(words)
    return found


_TOOLS = {"build", "check", "replay", "timing", "toolchain"}
"""Folders of a model that no C function reaches."""


def files(family: str) -> list[Path]:
    folders = (PACKAGE / family, PACKAGE / "abi" / family)
    found = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    found = [file for file in found if not _TOOLS & set(file.relative_to(PACKAGE).parts)]
    return [*found, *(f for f in [PACKAGE / "abi" / f"{family}.py"] if f.exists())]


@cache
def trees(family: str) -> dict[Path, ast.Module]:
    """The sources of an API."""
    return {file: ast.parse(file.read_text()) for file in files(family)}


@cache
def definitions(tree: ast.Module) -> list[ast.ClassDef | ast.FunctionDef]:
    """Its classes and functions, wherever they stand."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef | ast.FunctionDef)]


def names(family: str, members: dict[str, int]) -> dict[str, str]:
    """Every name of a status in the sources -> the header's. A model may number them itself."""
    found = {name: name for name in members}
    if not (PACKAGE / family / "errors.py").exists():
        return found
    own = getattr(import_module(f"cudla_sim.{family}.errors"), "Status", None)
    if isinstance(own, type) and issubclass(own, IntEnum):
        by_value = {value: name for name, value in reversed(members.items())}
        found |= {m.name: by_value[m] for m in own if m.name not in found and int(m) in by_value}
    return found


def _templates(node: ast.expr) -> list[str]:
    """The texts that an expression may be."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        parts = (str(v.value) if isinstance(v, ast.Constant) else "..." for v in node.values)
        return ["".join(parts)]
    if isinstance(node, ast.IfExp):
        return [*_templates(node.body), *_templates(node.orelse)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [a + b for a in _templates(node.left) for b in _templates(node.right)]
    return []


class Reader:
    """What stands for a status in the sources of an API. *names*: a status by any of its names."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._makers: dict[str, str] = {}  # functions and classes of errors -> status

    def learn(self, tree: ast.Module) -> None:
        """Notes functions and exceptions that stand for one status."""
        for node in definitions(tree):
            if isinstance(node, ast.ClassDef):
                bases = (self._makers.get(b.id, "") for b in node.bases if isinstance(b, ast.Name))
                inits = (f for f in node.body if getattr(f, "name", "") == "__init__")
                status = next((s for f in inits if (s := self._fixed(f))), "")
                status = status or next(filter(None, bases), "")
                if status:
                    self._makers[node.name] = status
            elif isinstance(node, ast.FunctionDef) and node.args.args:
                last = node.body[-1]
                call = last.value if isinstance(last, ast.Return) else None
                call = last.exc if isinstance(last, ast.Raise) else call
                if isinstance(call, ast.Call):
                    statuses = [s for a in call.args if (s := self.status(a, {}))]
                    given = {a.id for a in ast.walk(call) if isinstance(a, ast.Name)}
                    if len(statuses) == 1 and given & {a.arg for a in node.args.args}:
                        self._makers[node.name] = statuses[0]

    def _fixed(self, init: ast.AST) -> str:
        """The status that an ``__init__`` passes on, or takes by default."""
        nodes = [a for c in ast.walk(init) if isinstance(c, ast.Call) for a in c.args]
        if isinstance(init, ast.FunctionDef):
            nodes += init.args.defaults
        return next((s for n in nodes if (s := self.status(n, {}))), "")

    def status(self, node: ast.AST, known: dict[str, str]) -> str:
        if isinstance(node, ast.Attribute):
            return self._names.get(node.attr, "")
        return known.get(node.id, "") if isinstance(node, ast.Name) else ""

    def calls(self, tree: ast.Module) -> list[tuple[str, str]]:
        """Status and text of each call that has both."""
        return self.within(tree, self.assigned(tree.body))

    def assigned(self, body: list[ast.stmt]) -> dict[str, str]:
        """Names of the module that are statuses."""
        return {
            target.id: status
            for node in body
            if isinstance(node, ast.Assign) and (status := self.status(node.value, {}))
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def within(self, node: ast.AST, known: dict[str, str]) -> list[tuple[str, str]]:
        """The same of a part, where *known* are statuses by the names of the module."""
        found: list[tuple[str, str]] = []
        self._within(node, known, {}, found)
        return found

    def _within(
        self,
        node: ast.AST,
        known: dict[str, str],
        texts: dict[str, list[str]],
        into: list[tuple[str, str]],
    ) -> None:
        if isinstance(node, ast.FunctionDef):
            by_position = [*node.args.posonlyargs, *node.args.args]
            arguments = by_position[len(by_position) - len(node.args.defaults) :]
            defaults = zip(arguments, node.args.defaults, strict=True)
            known = known | {a.arg: s for a, d in defaults if (s := self.status(d, {}))}
            texts = dict(texts)
            for part in ast.walk(node):
                if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                    texts.setdefault(part.targets[0].id, []).extend(_templates(part.value))
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            found = (s for a in node.args if (s := self.status(a, known)))
            status = next(found, self._makers.get(name, ""))
            if status:
                into += [(status, text) for text in self._text(node, texts)]
        for child in ast.iter_child_nodes(node):
            self._within(child, known, texts, into)

    def _text(self, call: ast.Call, texts: dict[str, list[str]]) -> list[str]:
        """The explanation; of several texts (a unit and what it lacks) all."""
        given = [
            texts.get(a.id, []) if isinstance(a, ast.Name) else _templates(a) for a in call.args
        ]
        given = [g for g in given if g]
        if len(given) > 1:
            return [": ".join(g[0] for g in given)]
        return given[0] if given else []
