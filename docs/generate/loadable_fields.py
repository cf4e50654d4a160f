"""The loadable format field by field, from what reads it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator
from enum import IntEnum, IntFlag
from pathlib import Path

from cudla_sim.nvdla import descriptors, loadable, tables
from cudla_sim.nvdla.facts import modes
from cudla_sim.nvdla.record import Record

from .tables import code, table

_C = {
    "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32",
    "q": "int64", "Q": "uint64", "f": "float", "?": "bool",
}  # fmt: skip
_SIZES = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8, "f": 4}


def entries() -> dict[str, list[tuple[str, str, str]]]:
    """Entry -> its fields: position in the table, type, name; read from the reader's source."""
    tree = ast.parse(Path(loadable.__file__).read_text())
    found: dict[str, list[tuple[str, str, str]]] = {"Loadable": []}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        made = getattr(call.func, "id", "")
        if hasattr(tables, made) and made.endswith(("Entry", "Desc", "Blob")):
            values = [*call.args, *(word.value for word in call.keywords)]
            found[made] = [field for value in values if (field := _field(value))]
        elif ast.unparse(call.func) in ("root.tables", "root.inline") and (list_ := _field(call)):
            found["Loadable"].append(list_)
    found["Loadable"].sort(key=lambda field: int(field[0]))
    return found


def _field(node: ast.expr) -> tuple[str, str, str] | None:
    """The first ``table.kind(position, ..., name)`` in an expression."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        first = call.args[0] if call.args else None
        several = isinstance(first, ast.BinOp) and isinstance(first.left, ast.Constant)
        place = first.left if several and isinstance(first, ast.BinOp) else first
        if not isinstance(place, ast.Constant) or not isinstance(place.value, int):
            continue
        start = place.value
        values = [a.value for a in call.args[1:] if isinstance(a, ast.Constant)]
        names = [v for v in values if isinstance(v, str)]
        kind = call.func.attr
        position = f"{start} to {start + 7}" if several else str(start)
        if kind in ("scalar", "scalars"):
            vector = "[]" if kind == "scalars" else ""
            return position, _C[names[0]] + vector, names[1]
        word = {"string": "string", "strings": "string[]", "octets": "uint8[]", "tables": "table[]"}
        return position, word.get(kind) or f"{values[0]} x uint8", names[-1]
    return None


def layout(kind: type[Record], new: bool) -> Iterator[tuple[int, str, str]]:
    """Offset, C type and name of each member of a structure in one generation."""
    offset = 0
    for member in dataclasses.fields(kind):
        meta = member.metadata
        if meta.get("since") == "new" and not new:
            continue
        count = meta.get("count", 1)
        if "record" in meta:
            text, size = f"struct {meta['record'].__name__}", meta["record"].byte_size(new)
        elif meta["code"].endswith("s"):
            text, size, count = "uint8", 1, int(meta["code"][:-1])
        else:
            text, size = _C[meta["code"]], _SIZES[meta["code"]]
        yield offset, text + (f"[{count}]" if count > 1 else ""), member.name
        offset += size * count


def _first(thing: type) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("``", "`")


def _records() -> list[type[Record]]:
    found = [v for v in vars(descriptors).values() if isinstance(v, type) and issubclass(v, Record)]
    return [kind for kind in found if kind is not Record]


def _enumerations() -> list[type[IntEnum] | type[IntFlag]]:
    found = []
    for module in (tables, descriptors, modes):
        for kind in vars(module).values():
            known = isinstance(kind, type) and issubclass(kind, IntEnum | IntFlag)
            if known and kind.__module__ == module.__name__:
                found.append(kind)
    return found


def page() -> str:
    """The page."""
    lines = [
        "# Loadables, field by field",
        "",
        "What a [loadable](loadable.md) consists of, as the reader reads it. Numbers are "
        "little-endian; structures of the engine interface are packed.",
        "",
        "## Tables of the FlatBuffers file",
        "",
        "*position* is that of the field in its table. Entries name each other by their position in "
        "their list.",
        "",
    ]
    for name, fields in entries().items():
        rows = [(position, code(kind), code(field)) for position, kind, field in fields]
        lines += [f"### {name}", "", _first(getattr(loadable, name)), ""]
        lines += [*table(("position", "type", "field"), rows), ""]
    lines += ["## Structures of a DLA task", ""]
    lines += [
        "*old* are offsets with data cubes of 28 bytes, *new* (interface version 0.12 and later) "
        "with 32. In their lists an operation takes "
        f"{descriptors.OPERATION_SIZE} bytes, a surface {descriptors.SURFACE_SIZE}.",
        "",
    ]
    for kind in _records():
        old = {name: offset for offset, _, name in layout(kind, new=False)}
        rows = [
            (str(old.get(name, "-")), str(offset), code(text), code(name))
            for offset, text, name in layout(kind, new=True)
        ]
        sizes = f"{kind.byte_size(False)} bytes, new {kind.byte_size(True)}"
        lines += [f"### {kind.__name__}", "", f"{_first(kind)} ({sizes}.)", ""]
        lines += [*table(("old", "new", "type", "member"), rows), ""]
    lines += ["## Numbers", ""]
    rows = []
    for choice in _enumerations():
        members = ", ".join(f"{code(m.name.lower())} {int(m)}" for m in choice if m.name)
        rows.append((code(choice.__name__), _first(choice), members))
    lines += [*table(("kind", "of", "numbers"), rows), ""]
    return "\n".join(lines)
