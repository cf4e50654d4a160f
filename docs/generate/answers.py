"""What each function answers and when: read from its handler and from what that calls, without
running them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .causes import PACKAGE, Reader, definitions, names, trees

_WORDS = re.compile(r"[a-z]{2,} \w+")
"""What says something beside values."""
DEEPEST = 5
"""Calls that are followed from a handler."""
_BUILTIN = {
    name for kind in (bytes, dict, list, set, str, bytearray, memoryview) for name in dir(kind)
} | {"open", "close", "read", "write", "start", "stop", "run", "wait", "name", "find", "value"}
"""Methods of Python's own types, and words that mean many things: not followed by their names."""


@dataclass
class Answer:
    """*causes*: status -> explanations, ``...`` where values stand. *written*: parameters that the
    handler writes through, *read*: those that it reads through; both by position."""

    documented: str = ""
    causes: dict[str, list[str]] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    read: set[int] = field(default_factory=set)


def find(family: str, members: dict[str, int]) -> dict[str, Answer]:
    """Exported name -> what its handler in ``abi/`` says."""
    return dict(_Family(family, members).answers())


class _Family:
    def __init__(self, family: str, members: dict[str, int]) -> None:
        self._reader = Reader(names(family, members))
        self._trees = trees(family)
        for tree in self._trees.values():
            self._reader.learn(tree)
        self._known: dict[int, dict[str, str]] = {}
        self._named: dict[str, list[ast.FunctionDef]] = {}
        self._gates: dict[str, tuple[str, str]] = {}
        self._said: dict[int, tuple[list[tuple[str, str]], list[ast.Call]]] = {}
        for tree in self._trees.values():
            self._gates |= self._partial(tree)
            statuses = self._reader.assigned(tree.body)
            for node in definitions(tree):
                if isinstance(node, ast.FunctionDef):
                    self._known[id(node)] = statuses
                    self._named.setdefault(node.name, []).append(node)

    def _partial(self, tree: ast.Module) -> dict[str, tuple[str, str]]:
        """Checks of arguments that modules make: name -> (status, text), the text with ``...`` for
        arguments that calls name."""
        found = {}
        for node in tree.body:
            made = getattr(node, "value", None)
            if not isinstance(made, ast.Call):
                continue
            if getattr(made.func, "attr", "") == "resolver":
                inner = "resolve"
            elif getattr(made.func, "id", "") == "partial":
                inner = getattr(made.args[0], "attr", "")
            else:
                continue
            given = [*made.args[1:], *(k.value for k in made.keywords)]
            status = next((x for a in given if (x := self._reader.status(a, {}))), "")
            words = {k.arg: getattr(k.value, "value", None) for k in made.keywords}
            argument = words.get("argument") or "the handle"
            text = {
                "require": "... is NULL",
                "resolve": f"{argument} is NULL, stale or of another kind",
            }.get(inner, "")
            target = (
                node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            )
            if status and text and isinstance(target, ast.Name):
                found[target.id] = status, text
        return found

    def answers(self) -> Iterator[tuple[str, Answer]]:
        for file, tree in self._trees.items():
            if not file.is_relative_to(PACKAGE / "abi"):
                continue
            for node in tree.body:
                if isinstance(node, ast.FunctionDef):
                    for name in _exported(node):
                        yield name, self._answer(node)

    def _answer(self, handler: ast.FunctionDef) -> Answer:
        found = Answer(documented=(ast.get_docstring(handler) or "").strip())
        positions = {a.arg: n for n, a in enumerate(handler.args.args)}
        found.written = {positions[n] for n in written(handler) if n in positions}
        found.read = {positions[n] for n in read(handler) if n in positions}
        for status, text in self._causes(handler, DEEPEST, set()):
            texts = found.causes.setdefault(status, [])
            words = " ".join(text.split()).removeprefix("not supported: ")
            if _WORDS.search(words) and words not in texts:
                texts.append(words)
        found.causes = {status: texts for status, texts in found.causes.items() if texts}
        return found

    def _causes(
        self, node: ast.FunctionDef, depth: int, seen: set[int]
    ) -> Iterator[tuple[str, str]]:
        """Those of a function, then those of what it calls."""
        seen.add(id(node))
        if id(node) not in self._said:
            causes = self._reader.within(node, self._known[id(node)])
            calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
            self._said[id(node)] = causes, calls
        causes, calls = self._said[id(node)]
        yield from causes
        for call in calls if depth else []:
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if name in self._gates:
                status, text = self._gates[name]
                words = [k.arg or "" for k in call.keywords] if "..." in text else [""]
                for word in words:
                    yield status, text.replace("...", word, 1)
                continue
            found = [] if name in _BUILTIN else self._named.get(name, [])
            if len(found) != 1 or id(found[0]) in seen:
                continue
            if name == "null":  # each of its keywords may be the one
                for status, text in self._causes(found[0], 0, set()):
                    for word in call.keywords:
                        yield status, text.replace("...", word.arg or "", 1)
                continue
            yield from self._causes(found[0], depth - 1, seen)


def _exported(node: ast.FunctionDef) -> list[str]:
    found = []
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "attr", "") == "export":
            found += [str(a.value) for a in decorator.args if isinstance(a, ast.Constant)]
    return found


def written(node: ast.FunctionDef) -> set[str]:
    """Names that something is stored behind: ``x[0] = ``, ``x.member = ``, memmove into it."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Assign | ast.AugAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            for target in targets:
                if isinstance(target, ast.Subscript | ast.Attribute):
                    root = _root(target)
                    if root:
                        found.add(root)
        if isinstance(part, ast.Call) and getattr(part.func, "attr", "") in ("memmove", "buffer"):
            root = _root(part.args[0]) if part.args else ""
            if root:
                found.add(root)
    return found


def read(node: ast.FunctionDef) -> set[str]:
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Load):
            root = _root(part)
            if root:
                found.add(root)
    return found


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
