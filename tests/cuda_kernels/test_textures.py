"""Fetches by the formulas of the CUDA Programming Guide, "Texture Fetching", on numpy arrays."""

from __future__ import annotations

import itertools
from math import floor

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Run

WRAP, CLAMP, MIRROR, BORDER = range(4)
MOST = {"uchar": 255.0, "short": 32767.0, "float": 1.0, "int": 1.0}


def folded(at: int, size: int, mode: int, normalized: bool) -> int | None:
    """The guide's table of addressing modes; None is the border."""
    if not normalized and mode in (WRAP, MIRROR):
        mode = CLAMP
    if mode == BORDER and not 0 <= at < size:
        return None
    if mode == WRAP:
        return at % size
    if mode == MIRROR:
        turn, rest = divmod(at, size)
        return rest if turn % 2 == 0 else size - 1 - rest
    return min(max(at, 0), size - 1)


def fetched(plane: np.ndarray, at: list[float], mode: int, linear: bool, normalized: bool) -> float:
    """From an array (z, y, x), (y, x) or (x); coordinates x first."""
    sizes = plane.shape[::-1]
    x = [
        np.float32(c) * np.float32(n) if normalized else np.float32(c)
        for c, n in zip(at, sizes, strict=True)
    ]

    def texel(index: list[int]) -> float:
        inside = [folded(i, n, mode, normalized) for i, n in zip(index, sizes, strict=True)]
        return 0.0 if None in inside else float(plane[tuple(inside[::-1])])  # type: ignore[arg-type]

    if not linear:
        return texel([floor(c) for c in x])
    low = [floor(c - np.float32(0.5)) for c in x]
    part = [
        floor(float(c - np.float32(0.5) - lo) * 256 + 0.5) / 256
        for c, lo in zip(x, low, strict=True)
    ]
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        weight = np.prod([p if up else 1 - p for p, up in zip(part, corner, strict=True)])
        if weight:
            total += weight * texel([lo + up for lo, up in zip(low, corner, strict=True)])
    return total


@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_fetches(textures: Run, data: st.DataObject) -> None:
    what = data.draw(st.sampled_from(["array", "pitch"]))
    width, height = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 6))
    form = data.draw(st.sampled_from(["float", "int", "uchar", "short"]))
    mode = data.draw(st.integers(0, 3))
    linear = form != "int" and data.draw(st.booleans())
    normalized = data.draw(st.booleans())
    quarter = st.integers(-60, 60).map(lambda n: n / 8 + 1 / 64)
    points = data.draw(st.lists(st.tuples(quarter, quarter), min_size=1, max_size=12))
    if normalized:
        points = [(x / 4, y / 4) for x, y in points]
    words = [w for p in points for w in p]
    done = textures(what, width, height, form, mode, int(linear), int(normalized), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    *found, after = done.stdout.split()
    assert after == "cudaErrorInvalidResourceHandle"
    values = np.arange(height * width, dtype=np.float64)
    if form == "uchar":
        values %= 256
    values = values.reshape(height, width) / MOST[form]
    for point, text in zip(points, found, strict=True):
        expected = fetched(values, list(point), mode, linear, normalized)
        np.testing.assert_allclose(float(text), expected, rtol=2e-6, atol=2e-6)
