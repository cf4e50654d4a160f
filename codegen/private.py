"""Reads the private headers of ``shim/`` for cffi (their rules stand at the top of each)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

from . import parse
from .parse import Function, named

# Used by Python and declared by no header of ours.
_LIBC = """
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *memory);
int memcmp(const void *one, const void *other, size_t size);
"""


@dataclass
class Private:
    """What one private header declares itself, in order."""

    types: list[c_ast.Node]
    functions: list[Function]

    @property
    def gates(self) -> list[Function]:
        """C calls them; they start Python."""
        return [f for f in self.functions if f.name.startswith("sim__")]

    @property
    def c_functions(self) -> list[Function]:
        """C defines them; Python calls them."""
        return [f for f in self.functions if not f.name.startswith(("impl_", "sim__"))]


def read(header: Path, include: Path, shim: Path) -> Private:
    """The declarations of ``header`` and of what it includes from ``shim``."""
    text = parse.preprocess(header, include, shim / "parse_include", f"-I{shim}")
    found = Private([], [])
    for node in c_parser.CParser().parse(text, str(header)).ext:
        where = Path(node.coord.file).resolve()
        if not where.is_relative_to(shim) or where.is_relative_to(shim / "parse_include"):
            continue
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            found.functions.append(Function(node.name, node, header.name))
        else:
            found.types.append(node)
    return found


def cdef(private: Private) -> str:
    """The text for ``ffi.cdef``."""
    text = c_generator.CGenerator().visit
    lines = [text(node) + ";" for node in private.types]
    from_python = [text(f.decl) for f in private.functions if f.name.startswith("impl_")]
    from_python += [named(gate, "impl_" + gate.name)[0] for gate in private.gates]
    if from_python:
        lines += ['extern "Python+C" {', *(f"    {d};" for d in from_python), "}"]
    lines += [text(f.decl) + ";" for f in private.c_functions]
    return "\n".join(lines) + "\n" + _LIBC
