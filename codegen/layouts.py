"""Writes private headers of C for Python: numbers, enumerations, structures with their layout.

For what C and Python share as memory, without a function call between them. Structures become
classes of ctypes under their names of C; their layout is compared with the one that cffi finds.
"""

from __future__ import annotations

import ctypes
import itertools
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cffi import FFI
from pycparser import c_ast, c_parser

from . import parse

_TYPES = {
    **{
        f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
    },
    "char": "c_char",
    "float": "c_float",
    "double": "c_double",
    "int": "c_int32",
    "size_t": "c_size_t",
}
_ASSERTION = "-D_Static_assert(condition,text)="
# inline functions may have instructions of a processor, which pycparser does not read
_ANY_PROCESSOR = ("-U__x86_64__", "-U__aarch64__")


@dataclass
class Member:
    name: str
    offset: int
    type: str  # of ctypes, a structure, or "" for a pointer
    plain: bool  # a number
    lengths: tuple[int, ...] = ()  # of an array, outermost first


@dataclass
class Structure:
    name: str
    size: int
    comment: str
    members: list[Member] = field(default_factory=list)

    @property
    def pointers(self) -> bool:
        """It means nothing to another process."""
        return any(not member.type for member in self.members)


@dataclass
class Enumeration:
    name: str  # its tag, or ""
    comment: str
    members: dict[str, int]


@dataclass
class Header:
    numbers: dict[str, int] = field(default_factory=dict)
    enumerations: list[Enumeration] = field(default_factory=list)
    structures: list[Structure] = field(default_factory=list)


def read(
    headers: Sequence[Path], include: Path, shim: Path, *extra: str, packed: bool = False
) -> Header:
    """What *headers* declare, and structures of others that theirs contain. *packed*: they have no
    gaps, though the preprocessor takes the attribute away."""
    found = Header()
    options = [f"-I{h.parent}" for h in headers] + [
        f"-I{shim}",
        _ASSERTION,
        *_ANY_PROCESSOR,
        *extra,
    ]
    ours = {h.resolve() for h in headers}
    lines = {h.resolve(): h.read_text().splitlines() for h in headers}
    text = "".join(f'#include "{h}"\n' for h in headers)
    source = parse.preprocess_text(text, include, shim / "parse_include", *options)
    defines = parse.preprocess_text(text, include, shim / "parse_include", *options, "-dD")
    constants = parse.Constants()
    ffi, structures = FFI(), []
    for node in c_parser.CParser().parse(source).ext:
        where = Path(node.coord.file).resolve() if node.coord else None
        if where is None or where.is_relative_to(shim / "parse_include"):
            continue
        if isinstance(node, c_ast.FuncDef) or isinstance(node.type, c_ast.FuncDecl):
            continue
        comment = _comment(lines[where], node.coord.line) if where in ours else ""
        for enum in parse.enum_nodes(node):
            members = parse.enumerators(enum, constants)
            if where in ours:
                found.enumerations.append(Enumeration(enum.name or "", comment, members))
        ffi.cdef(parse.type_text(parse.evaluated(node, constants)) + ";", packed=packed)
        name = _structure(node)
        if name:
            structures.append((name, comment, where in ours))
    _defines(defines, ours, constants, found.numbers)
    described = {name: _described(ffi, name, comment) for name, comment, _ in structures}
    wanted: set[str] = set()

    def want(name: str) -> None:
        if name in described and name not in wanted:
            wanted.add(name)
            for member in described[name].members:
                want(member.type)

    for name, _, own in structures:
        if own:
            want(name)
    found.structures = [s for name, s in described.items() if name in wanted]
    return found


def _comment(lines: list[str], line: int) -> str:
    """The comment that ends on the line before."""
    last = first = line - 2
    if last < 0 or not lines[last].rstrip().endswith("*/"):
        return ""
    while not lines[first].lstrip().startswith("/*"):
        first -= 1
    text = " ".join(part.strip().strip("/*").strip() for part in lines[first : last + 1])
    return "" if "---" in text else text.strip()


def _structure(node: c_ast.Node) -> str:
    """The name by which C knows a structure with members, or ""."""
    inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else node.type
    if not isinstance(inner, c_ast.Struct | c_ast.Union) or inner.decls is None:
        return ""
    keyword = "struct" if isinstance(inner, c_ast.Struct) else "union"
    return node.name if isinstance(node, c_ast.Typedef) else f"{keyword} {inner.name}"


def _described(ffi: Any, name: str, comment: str) -> Structure:
    kind = ffi.typeof(name)
    result = Structure(name, ffi.sizeof(kind), comment)
    for member, where in kind.fields:
        inner, lengths = where.type, []
        while inner.kind == "array":
            lengths.append(inner.length)
            inner = inner.item
        if inner.kind in ("struct", "union"):
            part = Member(member, where.offset, inner.cname, False, tuple(lengths))
        elif inner.kind == "primitive" and inner.cname in _TYPES:
            part = Member(member, where.offset, _TYPES[inner.cname], True, tuple(lengths))
        elif inner.kind == "pointer":
            part = Member(member, where.offset, "", False, tuple(lengths))
        else:
            raise SystemExit(f"build_ffi: {name}.{member} is a {inner.cname}")
        result.members.append(part)
    return result


def _defines(text: str, ours: set[Path], constants: parse.Constants, into: dict[str, int]) -> None:
    """Macros of our headers that are integers, also those that name others."""
    own = False
    for line in text.splitlines():
        if mark := parse.LINEMARK.match(line):
            own = Path(mark[1]).resolve() in ours
        elif macro := parse.DEFINE.match(line):
            try:
                unit = c_parser.CParser().parse(f"int value = {macro[2]};")
                value = constants.value(unit.ext[0].init)
            except Exception:
                continue
            constants[macro[1]] = value
            if own:
                into[macro[1]] = value


# --- Python ------------------------------------------------------------------------------------


def python(header: Header, source: str, prefix: str = "") -> str:
    """A module. Numbers and enumerations lose *prefix*, and enumerators what all of one share;
    structures with pointers are left out."""
    structures = [s for s in header.structures if not s.pointers]
    plain = {name.removeprefix(prefix.upper()): value for name, value in header.numbers.items()}
    for enum in header.enumerations:
        if not enum.name:
            plain |= {m.removeprefix(prefix.upper()): v for m, v in enum.members.items()}
    types = sorted({m.type for s in structures for m in s.members if m.plain})
    arrays = ["Array"] * any(m.lengths for s in structures for m in s.members)
    text = [
        f'"""{source}, for Python.',
        "",
        "Generated by build_ffi.py; do not edit, run `python build_ffi.py`.",
        '"""',
        "",
        *([f"from ctypes import {', '.join([*arrays, 'Structure', *types])}"] if types else []),
        *(["from enum import IntEnum"] if any(e.name for e in header.enumerations) else []),
        "",
        *(f"{name} = {_number(value)}" for name, value in plain.items()),
    ]
    for enum in header.enumerations:
        if enum.name:
            text += ["", "", *_enumeration(enum, prefix)]
    for structure in structures:
        text += ["", "", *_class(structure)]
    module = "\n".join(text) + "\n"
    _check(module, structures)
    return module


def _check(module: str, structures: Sequence[Structure]) -> None:
    """Raises unless ctypes lays everything out as C does."""
    made: dict[str, Any] = {}
    exec(module, made)
    for structure in structures:
        kind = made[structure.name.removeprefix("struct ")]
        found = [getattr(kind, m.name).offset for m in structure.members]
        if ctypes.sizeof(kind) != structure.size or found != [m.offset for m in structure.members]:
            raise SystemExit(f"build_ffi: ctypes has another layout for {structure.name}")


def _number(value: int) -> str:
    return f"{value:#x}" if value >= 0x400 else str(value)


def _lower(text: str) -> str:
    return text[0].lower() + text[1:] if text[1:2].islower() else text


def _docstring(name: str, comment: str) -> list[str]:
    text = f"``{name}``" + (f": {_lower(comment)}" if comment else ".")
    lines = textwrap.wrap(text, 92)
    if len(lines) == 1:
        return [f'    """{lines[0]}"""']
    return [f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), '    """']


def _enumeration(enum: Enumeration, prefix: str) -> list[str]:
    first, last = min(enum.members), max(enum.members)
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    shared = "".join(letter for letter, _ in same).rpartition("_")[0]
    words = re.findall("[a-z0-9]+", enum.name.removeprefix(prefix))
    return [
        f"class {''.join(word.capitalize() for word in words)}(IntEnum):",
        *_docstring(f"enum {enum.name}", enum.comment),
        "",
        *(f"    {m.removeprefix(shared + '_')} = {_number(v)}" for m, v in enum.members.items()),
    ]


def _class(structure: Structure) -> list[str]:
    annotations, fields = [], []
    for member in structure.members:
        kind = member.type.removeprefix("struct ")
        shown = "int" if member.plain else kind
        for length in reversed(member.lengths):
            shown = "bytes" if kind == "c_char" else f"Array[{kind if shown == 'int' else shown}]"
            kind = f"({kind} * {length})" if "*" in kind else f"{kind} * {length}"
        annotations.append(f"    {member.name}: {shown}")
        fields.append(f'        ("{member.name}", {kind}),')
    name = structure.name.removeprefix("struct ")
    return [
        f"class {name}(Structure):",
        *_docstring(structure.name, structure.comment),
        "",
        *annotations,
        "    _fields_ = [",
        *fields,
        "    ]",
    ]


def typed(header: Header, source: str) -> str:
    """A module with a type for each structure that Python fills for functions of C: cffi takes a
    dictionary for one. Members that are not named are 0."""
    text = [
        f'"""Structures of {source}, filled by name.',
        "",
        "Generated by build_ffi.py; do not edit, run `python build_ffi.py`.",
        '"""',
        "",
        "from collections.abc import Sequence",
        "from typing import Any, TypedDict",
    ]
    for structure in header.structures:
        name = structure.name.removeprefix("struct ")
        text += ["", "", f"class {name}(TypedDict, total=False):"]
        text += [*_docstring(structure.name, structure.comment), ""]
        for member in structure.members:
            kind = _IN_PYTHON.get(member.type, "int" if member.plain else "Any")
            if member.type.startswith("struct "):
                kind = member.type.removeprefix("struct ")
            for _ in member.lengths:
                kind = f"Sequence[{kind}]"
            text.append(f"    {member.name}: {kind}")
    return "\n".join(text) + "\n"


_IN_PYTHON = {"c_float": "float", "c_double": "float", "c_char": "bytes"}
