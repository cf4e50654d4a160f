"""What Python says about a C function is what its header says."""

from __future__ import annotations

import inspect
import pydoc
import re

from cudla_sim import paths
from cudla_sim.capi import load
from cudla_sim.capi.declarations import DECLARATIONS
from cudla_sim.capi.prototypes import PROTOTYPES


def _declared(header: str) -> dict[str, list[str]]:
    """Function -> the last word of each parameter, read without a parser of C."""
    text = (paths.PACKAGE / "include" / header).read_text()
    text = re.sub(r"/\*.*?\*/|//[^\n]*|#[^\n]*", "", text, flags=re.DOTALL)
    found = {}
    for name, words in re.findall(r"cudlaStatus\s+(cudla\w+)\s*\(([^()]*)\)\s*;", text):
        found[name] = [re.findall(r"\w+", word)[-1] for word in words.split(",")]
    return found


def test_signatures_have_the_names_of_the_header() -> None:
    declared = _declared("cudla.h")
    assert len(declared) > 10
    for name, parameters in declared.items():
        signature = inspect.signature(getattr(load(), name))
        assert list(signature.parameters) == parameters
        assert str(signature.return_annotation) == "cudlaStatus"


def test_every_function_has_one_and_it_fits_what_ctypes_converts() -> None:
    api = load()
    assert DECLARATIONS.keys() == PROTOTYPES.keys()
    for name in PROTOTYPES:
        function = getattr(api, name)
        assert len(inspect.signature(function).parameters) == len(function.argtypes)


def test_help_shows_the_declaration() -> None:
    shown = pydoc.render_doc(load().cudlaMemUnregister, renderer=pydoc.plaintext)
    expected = (
        "cudlaMemUnregister(devHandle: const cudlaDevHandle, devPtr: const uint64_t * const, /)"
    )
    assert f"{expected} -> cudlaStatus" in shown
    assert "Declared in cudla.h." in shown
