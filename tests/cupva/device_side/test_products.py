"""Products with all shifts and predicates, and changes of width, against integers of Python."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from .bench import Bench

WIDTHS: dict[str, tuple[type, int, int]] = {
    "8": (np.int16, 12, 64),
    "16": (np.int32, 24, 32),
    "32": (np.int64, 48, 16),
}
"""What holds a lane, its bits, and how many there are."""
TRUNCATES = 0x100
ALL = (1 << 64) - 1


def wrap(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def shifted(product: int, how: int) -> int:
    shift = how & 63
    half = 1 << shift - 1 if shift and not how & TRUNCATES else 0
    return (product + half) >> shift


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    how=st.integers(0, 23).flatmap(lambda n: st.sampled_from([n, n | TRUNCATES])),
    predicate=st.one_of(st.sampled_from([0, ALL, 0xFFFF, ALL << 16 & ALL]), st.integers(0, ALL)),
    seed=st.integers(0, 999),
    extremes=st.booleans(),
)
@example(how=0, predicate=ALL, seed=0, extremes=True)
def test_products(products: Bench, how: int, predicate: int, seed: int, extremes: bool) -> None:
    rng = np.random.default_rng(seed)
    lanes: dict[str, tuple[list[int], list[int]]] = {}
    inputs: dict[str, int | bytes] = {"how": how, "predicate": predicate.to_bytes(8, "little")}
    for width, (dtype, bits, count) in WIDTHS.items():
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        values = rng.integers(low, high, (2, count), endpoint=True)
        if extremes:
            values = rng.choice([low, low + 1, -1, 0, 1, high], (2, count))
        lanes[width] = values[0].tolist(), values[1].tolist()
        inputs[f"a{width}"], inputs[f"b{width}"] = (row.astype(dtype).tobytes() for row in values)
    result = products.launch(**inputs)
    assert (result.status, result.text) == ("done", "")
    for width, (_, bits, count) in WIDTHS.items():
        found = products.array(result, f"found{width}", np.int64).reshape(4, count)
        one, other = lanes[width]
        sums = [[0] * count, *([v if predicate >> i & 1 else 0 for i, v in enumerate(vs)]
                               for vs in (other, one))]  # fmt: skip
        plain = [shifted(x * y, how) for x, y in zip(one, other, strict=True)]
        single = [shifted(x * 5, how) + s for x, s in zip(one, sums[1], strict=True)]
        expected = [
            plain,
            [s + p for s, p in zip(sums[1], plain, strict=True)],
            [s - p for s, p in zip(sums[2], plain, strict=True)],
            single[: count // 2] + [0] * (count // 2),
        ]
        assert found.tolist() == [[wrap(v, bits) for v in row] for row in expected], width
    widths = products.array(result, "widths", np.int64).reshape(4, 32)
    assert widths[0].tolist() == [wrap(v, 12) for v in lanes["16"][0]]
    assert widths[1].tolist() == [wrap(v, 12) for v in lanes["16"][1]]
    assert widths[2][:16].tolist() == [wrap(v, 24) for v in lanes["32"][0]]
    assert widths[3][:16].tolist() == [wrap(v, 24) for v in lanes["32"][1]]
