"""Who answers each function: read from the decorators in ``abi/`` and the C of ``shim/``."""

from __future__ import annotations

import re
from pathlib import Path

from .parse import Api

_HANDLER = re.compile(r"\.(export|unsupported)\(\s*((?:\"[A-Za-z_]\w*\",?\s*)+)")
# Private functions: ``export_as("public name", "name")``, ``attach("name", ...)``.
_PRIVATE = re.compile(r"\.(?:export_as\(\s*\"[^\"]+\",\s*|attach\(\s*)\"(\w+)\"")


def handlers(package: Path) -> dict[str, tuple[str, str]]:
    """Exported name -> (how, module), read from the decorators in ``abi/``."""
    found: dict[str, tuple[str, str]] = {}
    for module in sorted((package / "abi").rglob("*.py")):
        for how, names in _HANDLER.findall(module.read_text()):
            for name in re.findall(r'"(\w+)"', names):
                found[name] = (how, str(module.relative_to(package)))
    return found


def private_handlers(package: Path) -> dict[str, str]:
    """The name of a private function -> the module that attaches it."""
    return {
        name: str(module.relative_to(package))
        for module in sorted((package / "abi").rglob("*.py"))
        for name in _PRIVATE.findall(module.read_text())
    }


def defined_in_c(shim: Path) -> dict[str, str]:
    """Exported name -> file, for the bodies that are written in C."""
    found = {}
    library = shim / "library"
    for source in sorted([*library.rglob("*.c"), *library.rglob("*.cpp")]):
        text = source.read_text()
        names = re.findall(r"^SIM_EXPORT [^;{]*?\b(\w+)\(", text, re.MULTILINE)
        names += re.findall(r"^[A-Z]+\((\w+),", text, re.MULTILINE)  # bodies that a macro writes
        names = [n.removeprefix("sim__") for n in names]  # twins that libcudart_sim.so forwards to
        found.update(dict.fromkeys(names, f"shim/{source.relative_to(shim)}"))
    return found


def mark(api: Api, package: Path, shim: Path) -> None:
    """Notes of each function whether its body is C, and whether Python has a part in it."""
    in_c, in_python = defined_in_c(shim), handlers(package)
    for function in api.functions:
        function.c_body = function.name in in_c
        function.native = function.variadic or (function.c_body and function.name not in in_python)


_STATES = {"export": "implemented", "unsupported": "refuses"}


def states(api: Api, package: Path, shim: Path) -> dict[str, tuple[str, str]]:
    """Function -> (implemented, refuses or missing; the file that answers), of a marked ``api``."""
    in_c, in_python = defined_in_c(shim), handlers(package)
    found = {}
    for function in api.functions:
        if function.native:
            where = in_c.get(function.name, "")
            found[function.name] = ("implemented" if where else "missing", where)
        else:
            how, where = in_python.get(function.name, ("", ""))
            found[function.name] = (_STATES.get(how, "missing"), where)
    return found
