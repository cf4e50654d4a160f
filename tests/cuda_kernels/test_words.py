"""Words as halves and bytes, against numpy; atomics, old names, complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .conftest import Run, compiled

words = compiled("words")
Parts = Any


def _bounded(value: Parts, kind: type) -> Parts:
    limits = np.iinfo(kind)
    return np.clip(value, limits.min, limits.max)


def _expected(name: str, a: int, b: int) -> int:
    width = int(name[-1])
    signed: Any = {2: np.int16, 4: np.int8}[width]
    unsigned: Any = {2: np.uint16, 4: np.uint8}[width]
    both = np.array([a, b], np.uint32)
    s = both.view(signed).reshape(2, -1).astype(np.int64)
    u = both.view(unsigned).reshape(2, -1).astype(np.int64)
    known: dict[str, Callable[[], Parts]] = {
        "vadd": lambda: u[0] + u[1],
        "vaddss": lambda: _bounded(s[0] + s[1], signed),
        "vaddus": lambda: _bounded(u[0] + u[1], unsigned),
        "vsub": lambda: u[0] - u[1],
        "vsubss": lambda: _bounded(s[0] - s[1], signed),
        "vsubus": lambda: _bounded(u[0] - u[1], unsigned),
        "vavgs": lambda: np.trunc((s[0] + s[1] + (s[0] + s[1] >= 0)) / 2).astype(np.int64),
        "vavgu": lambda: (u[0] + u[1] + 1) // 2,
        "vhaddu": lambda: (u[0] + u[1]) // 2,
        "vmaxs": lambda: np.maximum(*s),
        "vmaxu": lambda: np.maximum(*u),
        "vmins": lambda: np.minimum(*s),
        "vminu": lambda: np.minimum(*u),
        "vabsdiffs": lambda: abs(s[0] - s[1]),
        "vabsdiffu": lambda: abs(u[0] - u[1]),
        "vcmpeq": lambda: -(u[0] == u[1]).astype(np.int64),
        "vcmpgts": lambda: -(s[0] > s[1]).astype(np.int64),
        "vcmpgtu": lambda: -(u[0] > u[1]).astype(np.int64),
        "vcmples": lambda: -(s[0] <= s[1]).astype(np.int64),
        "vcmpleu": lambda: -(u[0] <= u[1]).astype(np.int64),
        "vsetne": lambda: (u[0] != u[1]).astype(np.int64),
        "vsetlts": lambda: (s[0] < s[1]).astype(np.int64),
        "vsetgeu": lambda: (u[0] >= u[1]).astype(np.int64),
        "vabs": lambda: abs(s[0]),
        "vabsss": lambda: _bounded(abs(s[0]), signed),
        "vneg": lambda: -s[0],
        "vnegss": lambda: _bounded(-s[0], signed),
    }
    kind = name[:-1]
    if kind in ("vsads", "vsadu"):
        parts = s if kind == "vsads" else u
        return int(abs(parts[0] - parts[1]).sum())
    return int(known[kind]().astype(unsigned).view(np.uint32)[0])


@pytest.mark.parametrize("seed", range(6))
def test_words_are_halves_and_bytes(words: Run, seed: int) -> None:
    random = np.random.default_rng(seed)
    special = np.array([0x80007FFF, 0x80FF7F01, 0, 0xFFFFFFFF], np.uint32)
    a, b = (int(x) for x in random.choice([*special, *random.integers(0, 1 << 32, 4)], 2))
    done = words(f"{a:x}", f"{b:x}")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("v")]
    assert len(rows) == 54
    assert {n: int(v, 16) for n, v in rows} == {n: _expected(n, a, b) for n, _ in rows}


def test_atomics_old_names_and_complex_numbers(words: Run) -> None:
    done = words("1", "2")
    assert done.stdout.splitlines()[-3:] == [
        f"counted {2 * 3 * 64} 1 58 {3 * sum(range(64))}",
        "complex -1 2 -5 10 5",
        "constants 1 2 1",
    ]
