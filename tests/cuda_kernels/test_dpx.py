"""Largest and smallest of sums and of three (DPX), against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .conftest import Run, compiled

dpx = compiled("dpx")
KINDS: dict[str, Any] = {"s32": np.int32, "u32": np.uint32, "s16x2": np.int16, "u16x2": np.uint16}


def _expected(name: str, numbers: list[int]) -> list[int]:
    """The result, and for ``vib...`` the predicates of the high and the low half."""
    what, kind, *relu = name.split("_")
    dtype = KINDS[kind]
    a, b, c = (np.array([n], np.uint32).view(dtype) for n in numbers)
    best = np.maximum if "max" in what else np.minimum
    with np.errstate(over="ignore"):
        operands = {"viadd": [a + b, c], "vi": [a, b], "vib": [a, b]}.get(what[:-3], [a, b, c])
    found = best.reduce(operands)
    if relu:
        found = np.maximum(found, 0)
    result = [int(found.view(np.uint32)[0])]
    if what.startswith("vib"):
        first = a >= b if "max" in what else a <= b
        result += [int(f) for f in first[::-1]]
    return result


@pytest.mark.parametrize("seed", range(8))
def test_words_and_halves(dpx: Run, seed: int) -> None:
    random = np.random.default_rng(seed)
    special = [0x80007FFF, 0x7FFF8000, 0, 0xFFFFFFFF, 0x80000000, 0x00010001]
    numbers = [int(n) for n in random.choice([*special, *random.integers(0, 1 << 32, 6)], 3)]
    done = dpx(*(f"{n:x}" for n in numbers))
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len(rows) == 36
    found = {name: [int(v, 16) for v in values] for name, *values in rows}
    assert found == {name: _expected(name, numbers) for name in found}
