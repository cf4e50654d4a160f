"""Reads the headers of ``include/`` (preprocessor, then pycparser) into a small description."""

from __future__ import annotations

import copy
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pycparser import c_ast, c_generator, c_parser

from cudla_sim.families import INCLUDE_FOLDERS

DEFINE = re.compile(r"#define\s+([A-Za-z_]\w*)\s+(.+?)\s*$")
LINEMARK = re.compile(r'#\s+\d+\s+"([^"]*)"')
_INT_SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b")


@dataclass(eq=False)
class Function:
    name: str
    decl: c_ast.Decl
    header: str  # path below include/, e.g. "cuda/cuda_runtime_api.h"
    c_body: bool = False  # the exported function is written by hand in shim/library/
    native: bool = False  # it never reaches Python

    @property
    def returns(self) -> str:
        """The return type as C text."""
        return type_text(self.decl.type.type)

    @property
    def params(self) -> list[c_ast.Node]:
        args = self.decl.type.args
        params = [] if args is None else list(args.params)
        if len(params) == 1 and type_text(params[0].type) == "void":
            return []
        return params

    @property
    def variadic(self) -> bool:
        return any(isinstance(p, c_ast.EllipsisParam) for p in self.params)


@dataclass
class Enum:
    name: str  # tag, or the typedef's name for an anonymous enum
    header: str
    members: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class Api:
    functions: list[Function] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    types: list[c_ast.Node] = field(
        default_factory=list
    )  # typedefs, structs, unions, enums in order
    macros: dict[str, tuple[str, int]] = field(default_factory=dict)  # name -> (header, value)


def type_text(node: c_ast.Node) -> str:
    return c_generator.CGenerator().visit(node)


@cache
def named(function: Function, new_name: str) -> tuple[str, list[str]]:
    """The prototype under another name, and the names of its parameters."""
    decl = own(function.decl)
    decl.name = new_name
    decl.funcspec, decl.storage = [], []
    params: list[c_ast.Node] = []
    if decl.type.args is not None:
        params = [own(param) for param in decl.type.args.params]
        decl.type.args = c_ast.ParamList(params)
    names = []
    for index, param in enumerate(function.params):
        target = params[index]
        name = getattr(param, "name", None) or f"arg{index}"
        if isinstance(target, c_ast.Typename):
            params[index] = target = c_ast.Decl(name, [], [], [], [], target.type, None, None)
        _set_declname(target.type, name)
        target.name = name
        names.append(name)
    _set_declname(decl.type, new_name)
    return c_generator.CGenerator().visit(decl), names


def own(node: c_ast.Node) -> c_ast.Node:
    """A copy down to where the name stands; copies of all below it take half of a build's time."""
    node = copy.copy(node)
    if not isinstance(node, c_ast.TypeDecl | c_ast.EllipsisParam):
        node.type = own(node.type)
    return node


def _set_declname(node: c_ast.Node, name: str) -> None:
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    node.declname = name


def include_options(include: Path) -> list[str]:
    """-I for every folder that programs have in their search path."""
    return [f"-I{include / folder}" for folder in INCLUDE_FOLDERS]


def preprocess(header: Path, include: Path, parse_include: Path, *extra: str) -> str:
    """Runs the C preprocessor with our own minimal system headers instead of the compiler's."""
    return _preprocessed(str(header), None, include, parse_include, extra)


def preprocess_text(text: str, include: Path, parse_include: Path, *extra: str) -> str:
    """The same for a text."""
    return _preprocessed("-", text, include, parse_include, extra)


def _preprocessed(
    source: str, text: str | None, include: Path, parse_include: Path, extra: Sequence[str]
) -> str:
    command = [
        os.environ.get("CC", "gcc"),
        "-E",
        "-nostdinc",
        "-x",
        "c",
        "-DCUDLA_SIM_PARSE",
        f"-I{parse_include}",
        *include_options(include),
        *extra,
        source,
    ]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"build_ffi: the preprocessor rejected {source}:\n{run.stderr}")
    return run.stdout


class Constants(dict[str, int]):
    """Evaluates the integer constant expressions of enumerators."""

    def value(self, node: c_ast.Node) -> int:
        if isinstance(node, c_ast.Constant):
            return int(_INT_SUFFIX.sub(r"\1", node.value), 0)
        if isinstance(node, c_ast.ID):
            return self[node.name]
        if isinstance(node, c_ast.UnaryOp):
            operand = self.value(node.expr)
            return {"-": -operand, "+": operand, "~": ~operand}[node.op]
        if isinstance(node, c_ast.Cast):
            return self.value(node.expr)
        if isinstance(node, c_ast.BinaryOp):
            left, right = self.value(node.left), self.value(node.right)
            return {
                "<<": left << max(right, 0),
                "|": left | right,
                "+": left + right,
                "-": left - right,
                "*": left * right,
                "&": left & right,
            }[node.op]
        raise ValueError(f"not an integer constant expression at {node.coord}")


def enum_nodes(node: c_ast.Node) -> Iterator[c_ast.Enum]:
    if isinstance(node, c_ast.Enum) and node.values is not None:
        yield node
    for _, child in node.children():
        if not isinstance(child, c_ast.ParamList):
            yield from enum_nodes(child)


def enum_name(enum: c_ast.Enum, outer: str | None) -> str:
    """How Python calls it: by its tag, or by its typedef's name (``outer``) where the tag is only
    that with an underscore before it, as in UPMEM's headers."""
    if enum.name and enum.name != f"_{outer}":
        return enum.name
    return outer or "anonymous"


def enumerators(enum: c_ast.Enum, constants: Constants) -> dict[str, int]:
    """Its members; later expressions may name them."""
    members = {}
    following = 0
    for member in enum.values.enumerators:
        value = following if member.value is None else constants.value(member.value)
        constants[member.name] = members[member.name] = value
        following = value + 1
    return members


def evaluated(node: c_ast.Node, values: Mapping[str, int]) -> c_ast.Node:
    """The same with numbers in place of the enumerators' expressions, as cffi wants them."""
    if next(enum_nodes(node), None) is None:
        return node
    node = copy.deepcopy(node)
    for enum in enum_nodes(node):
        for enumerator in enum.values.enumerators:
            enumerator.value = c_ast.Constant("int", str(values[enumerator.name]))
    return node


@cache
def _relative(path: str, include: Path) -> str | None:
    try:
        return str(Path(path).resolve().relative_to(include.resolve()))
    except ValueError:
        return None


def _read_macros(text: str, include: Path, into: dict[str, tuple[str, int]]) -> None:
    header: str | None = None
    for line in text.splitlines():
        if mark := LINEMARK.match(line):
            header = _relative(mark[1], include)
        elif header and (macro := DEFINE.match(line)):
            value = _INT_SUFFIX.sub(r"\1", macro[2].strip("()"))
            try:
                into[macro[1]] = (header, int(value, 0))
            except ValueError:
                continue  # not a plain number: the compiler's business only


def read(headers: list[Path], include: Path, parse_include: Path) -> Api:
    """Reads ``headers`` and everything below ``include`` that they include; each entity once."""
    api = Api()
    constants = Constants()
    seen: set[Any] = set()
    names: set[str] = set()
    for header in headers:
        _read_macros(preprocess(header, include, parse_include, "-dD"), include, api.macros)
        unit = c_parser.CParser().parse(preprocess(header, include, parse_include), str(header))
        for node in unit.ext:
            where = _relative(node.coord.file, include) if node.coord else None
            if where is None or (where, node.coord.line, node.coord.column) in seen:
                continue
            seen.add((where, node.coord.line, node.coord.column))
            if isinstance(node, c_ast.FuncDef) or "static" in getattr(node, "storage", []):
                continue
            is_function = isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl)
            if is_function:
                if node.name not in names:
                    names.add(node.name)
                    api.functions.append(Function(node.name, node, where))
                continue
            for enum in enum_nodes(node):
                name = enum_name(enum, getattr(node, "name", None))
                api.enums.append(Enum(name, where, enumerators(enum, constants)))
            api.types.append(node)
    return api
