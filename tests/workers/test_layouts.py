"""Generated mirrors of C: a compiler lays out the structures as ctypes does."""

from __future__ import annotations

import ctypes
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

import build_ffi
from cudla_sim import paths
from cudla_sim.upmem.workers.checks import Checks
from tests.conftest import ROOT


@pytest.mark.parametrize("name", build_ffi.SHARED)
def test_layouts(name: str, tmp_path: Path) -> None:
    """Sizes and offsets of all structures, and every number that is no enumerator."""
    prefix, *headers = build_ffi.SHARED[name]
    module = import_module(f"cudla_sim.constants.{name}")
    lines = ["#include <stddef.h>", "#include <stdint.h>"]
    lines += [f'#include "{header}"' for header in headers]
    for kind in vars(module).values():
        if (
            isinstance(kind, type)
            and issubclass(kind, ctypes.Structure)
            and kind is not ctypes.Structure
        ):
            tag = kind.__name__ if kind.__name__[:5] == "cupva" else f"struct {kind.__name__}"
            lines.append(f'_Static_assert(sizeof({tag}) == {ctypes.sizeof(kind)}, "{tag}");')
            for member, *_ in kind._fields_:
                at = getattr(kind, member).offset
                text = f'_Static_assert(offsetof({tag}, {member}) == {at}, "{tag} {member}");'
                lines.append(text)
    text = "".join((ROOT / "shim" / header).read_text() for header in headers)
    named = {w.removeprefix(prefix.upper()): w for w in re.findall(r"\b[A-Z]\w+", text)}
    for number, value in vars(module).items():
        if isinstance(value, int) and not isinstance(value, bool) and number.isupper():
            lines.append(f'_Static_assert({named[number]} == {value}, "{number}");')
    assert len(lines) > len(headers) + 3
    (tmp_path / "check.c").write_text("\n".join(lines) + "\n")
    folders = [f"-I{ROOT / 'shim'}", *(f"-I{(ROOT / 'shim' / h).parent}" for h in headers)]
    folders += [f"-I{paths.include_dir() / 'cupva'}"]
    command = ["gcc", *folders, "-fsyntax-only", str(tmp_path / "check.c")]
    subprocess.run(command, check=True)


def test_the_order_of_checks() -> None:
    """A launch has two bits for each field of ``Checks``, by its number in C."""
    from dataclasses import fields

    from cudla_sim.constants.dpu_protocol import Check

    assert [field.name for field in fields(Checks)] == [check.name.lower() for check in Check]
