"""Each exported function with its prototype and state, from the headers and the handlers."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from cudla_sim.families import FAMILIES, of_header

from . import details
from .origins import Origins
from .tables import code, table

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pyimpl" / "cudla_sim"

TITLES = {family.name: family.title for family in FAMILIES}
"""Page -> title."""


@cache
def _parts() -> tuple[Any, Any]:
    """The functions of all headers; the generator's package."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    import build_ffi
    from codegen import parse, sources

    return build_ffi.api(), (parse, sources)


@cache
def reasons() -> dict[str, str]:
    """Function -> why it only explains itself."""
    found: dict[str, str] = {}
    for module in sorted((PACKAGE / "abi").rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr != "unsupported":
                continue
            why = next((k.value for k in node.keywords if k.arg == "because"), None)
            text = _text(why, module)
            names = [a.value for a in node.args if isinstance(a, ast.Constant)]
            found.update({str(name): text for name in names})
    return found


def _text(node: ast.expr | None, module: Path) -> str:
    """A string, written here or as a name in the same module."""
    if isinstance(node, ast.Name):
        for other in ast.parse(module.read_text()).body:
            if isinstance(other, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == node.id for t in other.targets
            ):
                return _text(other.value, module)
    try:
        return str(ast.literal_eval(node)) if node is not None else ""
    except ValueError:
        return ""


def states() -> dict[str, tuple[str, str]]:
    """Function -> (implemented, refuses or missing; the file that answers)."""
    api, (_, sources) = _parts()
    states: dict[str, tuple[str, str]] = sources.states(api, PACKAGE, ROOT / "shim")
    return states


@cache
def page(name: str) -> str:
    """The functions of one family."""
    api, (parse, _) = _parts()
    title = TITLES[name]
    known, why = states(), reasons()
    answers = details.answers(name)
    origins = Origins(api, parse.type_text)
    by_header: dict[str, list[Any]] = {}
    for function in api.functions:
        if of_header(function.header).name == name:
            by_header.setdefault(function.header, []).append(function)
    lines = [
        f"# Functions: {title}",
        "",
        "*implemented* does what the vendor documents. *refuses* answers the API's status for what "
        "is not supported, and explains why. The table is made from the headers and from what "
        "answers each function. Of those that are implemented, below it: parameters with their "
        "direction, which functions give the handles that they take (an implicit one, as a default "
        "stream, apart), and what makes them fail, in the words of the explanations (`...` stands for "
        "values), read from the sources of what answers them.",
        "",
        *_for_all(name),
    ]
    for header, functions in by_header.items():
        done = sum(known[f.name][0] == "implemented" for f in functions)
        lines += [f"## {header}", "", f"{done} of {len(functions)} implemented.", ""]
        rows = []
        for function in functions:
            prototype = parse.type_text(function.decl).removeprefix("extern ")
            state, where = known[function.name]
            shown = code(prototype)
            if state == "implemented":
                shown = f"[{shown}](#{function.name.lower()})"
            rows.append((shown, state, why.get(function.name, "") or code(where)))
        lines += [*table(("function", "state", "why it refuses, or what answers"), rows), ""]
        for function in functions:
            if known[function.name][0] == "implemented":
                lines += details.section(function, answers, parse.type_text, origins)
    return "\n".join(lines)


_THREADS = (
    "Each function may be called from any thread, also while others are in calls. Calls that change "
    "one object at the same time are done one after the other; which comes first is up to the "
    "program. What waits for work keeps no other thread waiting. After `fork` the child begins with "
    "nothing, and handles of its parent are stale in it."
)


def _for_all(name: str) -> list[str]:
    """What holds for every function of a family, from its entry."""
    lines = ["## What holds for all of them", "", _THREADS, ""]
    for answers in next(f for f in FAMILIES if f.name == name).answers:
        some = f" (`{answers.functions}...`)" if answers.functions else ""
        rows = [
            (code(answers.bad_handle), "a handle that is stale, foreign or of another kind"),
            (code(answers.bad_memory), "an address that is not memory of the device"),
            (code(answers.no_memory), "the machine has no memory left"),
            (code(answers.not_supported), "what this library refuses, with the reason"),
            (code(answers.unknown), "what nobody foresaw: please report it"),
        ]
        lines += [f"Unless its own section says otherwise{some}:", ""]
        lines += [*table(("answers", "when"), rows), ""]
    return lines


def page_of(name: str) -> Callable[[], str]:
    """What makes the page of a family."""
    return lambda: page(name)
