"""Shared libraries of others that define the functions of a header of ours."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import cffi

from .. import paths

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class Header(NamedTuple):
    """A header as cffi sees it, with its numeric ``#define``s and the names of its functions."""

    ffi: Any
    defines: dict[str, int]
    functions: tuple[str, ...]


@cache
def read(name: str) -> Header:
    """Read a header below ``include/`` of plain declarations: no macro stands in them."""
    text = _COMMENT.sub(" ", (paths.include_dir() / name).read_text())
    defines = {name: int(value) for name, value in re.findall(r"#define\s+(\w+)\s+(\d+)\b", text)}
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    declared = "\n".join(lines).replace('extern "C" {', "").strip().removesuffix("}")
    ffi = cffi.FFI()
    ffi.cdef(declared)
    functions = tuple(re.findall(r"\b(\w+)\([^()]*\)\s*;", declared))
    return Header(ffi, defines, functions)


def load(header: Header, file: str) -> tuple[Any, list[str]]:
    """Load *file* (a path, or a name for the loader): (library, functions that it lacks).

    Raises OSError.
    """
    path = Path(file)
    where = str(path.resolve()) if path.exists() else file
    library = header.ffi.dlopen(where, header.ffi.RTLD_NOW | header.ffi.RTLD_LOCAL)
    return library, [name for name in header.functions if not hasattr(library, name)]
