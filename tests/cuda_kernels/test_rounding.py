"""Arithmetic with a direction, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .conftest import Run


def down(exact: Fraction) -> float:
    """The greatest float that is not greater."""
    near = np.float32(float(exact))
    while Fraction(float(near)) > exact:
        near = np.nextafter(near, np.float32(-np.inf))
    above = np.nextafter(near, np.float32(np.inf))
    while Fraction(float(above)) <= exact:
        near, above = above, np.nextafter(above, np.float32(np.inf))
    return float(near)


def test_each_direction_of_each_operation(rounding: Run) -> None:
    done = rounding()
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    for line in done.stdout.splitlines():
        x, y, *found = (float.fromhex(word) for word in line.split())
        a, b = Fraction(x), Fraction(y)
        wanted = []
        for exact in (a + b, a - b, a * b, a / b):
            below, above = down(exact), -down(-exact)
            wanted += [below, above, below if exact >= 0 else above]
        assert found == wanted, line
