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
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_fetches(textures: Run, data: st.DataObject) -> None:
    what = data.draw(st.sampled_from(["array", "array", "layers", "pitch", "linear"]))
    width = data.draw(st.integers(1, 9))
    height = data.draw(st.integers(1, 6)) if what == "pitch" else data.draw(st.integers(0, 6))
    depth = data.draw(st.integers(0, 4)) if what == "array" and height else 0
    layers = data.draw(st.integers(1, 3)) if what == "layers" else 0
    if what == "linear":
        height = 0
    form = data.draw(st.sampled_from(["float", "int", "uchar", "short"]))
    mode = data.draw(st.integers(0, 3))
    linear = form != "int" and what != "linear" and data.draw(st.booleans())
    normalized = what != "linear" and data.draw(st.booleans())
    sizes = [width, height, depth]
    quarter = st.integers(-60, 60).map(lambda n: n / 8 + 1 / 64)
    points = data.draw(
        st.lists(st.tuples(quarter, quarter, quarter, st.integers(-1, 3)), min_size=1, max_size=12)
    )
    if normalized:
        points = [(*tuple(c / 4 for c in p[:3]), p[3]) for p in points]
    if what == "linear":
        points = [(float(floor(p[0])), 0.0, 0.0, 0) for p in points]
    words = [w for p in points for w in p]
    done = textures(what, *sizes, layers, form, mode, int(linear), int(normalized), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    *found, after = done.stdout.split()
    assert after == "cudaErrorInvalidResourceHandle"
    shape = [n for n in (layers or depth, height, width) if n]
    values = np.arange(np.prod(shape), dtype=np.float64)
    if form == "uchar":
        values %= 256
    values = values.reshape(shape) / MOST[form]
    for point, text in zip(points, found, strict=True):
        *at, layer = point
        if what == "linear":
            i = floor(at[0])
            expected = float(values[i]) if 0 <= i < width else 0.0
        else:
            plane = values[min(max(int(layer), 0), layers - 1)] if layers else values
            expected = fetched(plane, list(at[: plane.ndim]), mode, linear, normalized)
        np.testing.assert_allclose(float(text), expected, rtol=2e-6, atol=2e-6)


def test_a_surface_is_read_and_written(textures: Run) -> None:
    done = textures("surface")
    assert done.returncode == 0, done.stdout + done.stderr
    *found, after = done.stdout.split()
    expected = np.arange(35) * 2
    expected[34] = 77  # beyond both edges, with clamping
    assert [int(w) for w in found] == expected.tolist()
    assert after == "cudaErrorInvalidResourceHandle"
