"""The exported names: a list that is committed, for whoever reviews a change of them."""

from __future__ import annotations

import fnmatch
from collections import defaultdict

from cudla_sim import families

from . import emit
from .parse import Api

_HEAD = """\
# The names that the libraries export, one line for each name and version of it:
# symbol, version ("-": none), libraries below lib/.
# `make lint` compares it with the headers and families.py; python build_ffi.py --exports writes it.
# Patterns stand for C++ symbols and for private names between our own libraries.
# A library that has several file names, such as one for each release, is named once.
"""


def listing(api: Api) -> str:
    """The text of ``codegen/exports.txt``."""
    libraries: dict[tuple[str, str], set[str]] = defaultdict(set)
    for symbol, version, library in _exports(api):
        libraries[symbol, version].add(library)
    rows = [
        f"{symbol} {version or '-'} {','.join(sorted(files))}\n"
        for (symbol, version), files in sorted(libraries.items())
    ]
    return _HEAD + "".join(rows)


def _exports(api: Api) -> set[tuple[str, str, str]]:
    """(symbol, version, library)."""
    found = {(name, "", "libcudla_sim.so") for name in emit.PRIVATE_EXPORTS}
    functions: dict[str, set[str]] = defaultdict(set)
    for function in api.functions:
        family = families.of_header(function.header)
        functions[family.name].add(function.name)
        versions = emit.versions(function.name) if family.beside_real else ("",)
        found |= {(function.name, version, family.real) for version in versions}
    for family in families.FAMILIES:
        found |= {(pattern, "", family.real) for pattern in family.cpp_symbols}
    for family, library in families.libraries().values():
        names = {*functions[family.name], *family.cpp_symbols}
        names |= set() if family.beside_real else functions["sim"]
        file = library.file.partition(".so")[0] + ".so"
        found |= {
            (name, library.version, file)
            for name in names
            for pattern in library.names
            if fnmatch.fnmatchcase(name, pattern)
        }
    return found
