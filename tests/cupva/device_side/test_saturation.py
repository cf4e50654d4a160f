"""Saturating stores, minima and maxima, sums of three, halves: against numbers of Python."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.cupva.workers.worker import LaunchResult

from .bench import Bench

WIDTHS = {
    "8": (np.int8, np.uint8, 12),
    "16": (np.int16, np.uint16, 24),
    "32": (np.int32, np.uint32, 48),
}
"""Elements as they are loaded and stored, and the bits of their lanes."""
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
SMALL = st.integers(-300, 300)
MANY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def wrap(value: int, bits: int = 24) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def saturated(lane: int, fields: list[int]) -> int:
    option, lim_lo, val_lo, lim_hi, val_hi = fields
    if not option & 1:
        return lane
    if option & 2:
        lim_lo, val_lo, lim_hi, val_hi = (x % (1 << 32) for x in (lim_lo, val_lo, lim_hi, val_hi))
    return val_lo if lane < lim_lo else val_hi if lane > lim_hi else lane


def launch(
    bench: Bench, scale: int, fields: list[int], seed: int
) -> tuple[dict[str, list[int]], LaunchResult]:
    """The lanes of each width, and what came of them."""
    rng = np.random.default_rng(seed)
    inputs, lanes = {}, {}
    for width, (loaded, _, bits) in WIDTHS.items():
        info = np.iinfo(loaded)
        values = rng.integers(info.min, info.max + 1, 512 // int(width)).astype(loaded)
        inputs[f"in{width}"] = values.tobytes()
        lanes[width] = [wrap(int(v) * (1 if width == "8" else scale), bits) for v in values]
    result = bench.launch(scale=scale, fields=np.array(fields, np.int32).tobytes(), **inputs)
    assert (result.status, result.text) == ("done", "")
    lanes["plain"] = np.frombuffer(inputs["in16"], np.int16).tolist()
    return lanes, result


@MANY
@given(
    option=st.integers(0, 3),
    limits=st.tuples(*[st.one_of(SMALL, INT32)] * 4),
    scale=st.integers(-400, 400),
    seed=st.integers(0, 99),
)
def test_stores_saturate_as_their_agen_says(
    saturation: Bench, option: int, limits: tuple[int, ...], scale: int, seed: int
) -> None:
    fields = [option, *limits]
    lanes, result = launch(saturation, scale, fields, seed)
    for width, (_, stored, _) in WIDTHS.items():
        expected = [saturated(x, fields) % (1 << int(width)) for x in lanes[width]]
        assert saturation.array(result, f"out{width}", stored).tolist() == expected, width
    some = [
        saturated(x, fields) % (1 << 16) if 0x00FF00F0 >> i & 1 else 0
        for i, x in enumerate(lanes["16"])
    ]
    assert saturation.array(result, "some", np.uint16).tolist() == some


def test_limits_are_the_elements_range_until_they_are_set(saturation: Bench) -> None:
    lanes, result = launch(saturation, 3, [0] * 5, 1)
    found = saturation.array(result, "defaults", np.uint16).reshape(2, 32)
    assert found[0].tolist() == np.clip(lanes["16"], 0, 65535).tolist()
    assert found[1].view(np.int16).tolist() == np.clip(lanes["16"], -32768, 32767).tolist()


def test_minima_maxima_sums_of_three_and_halves(saturation: Bench) -> None:
    lanes, result = launch(saturation, -173, [0] * 5, 2)
    a, b = lanes["16"], lanes["plain"]
    expected = [
        [max(x, y) for x, y in zip(a, b, strict=True)],
        [min(x, y) for x, y in zip(a, b, strict=True)],
        [max(x, 11) for x in a],
        [min(x, -11) for x in a],
        [wrap(x + y + 8388607) for x, y in zip(a, b, strict=True)],
        [wrap(2 * x + 1) for x in a],
        a[:16] + [0] * 16,
        [0] * 16 + a[:16],
    ]
    assert saturation.array(result, "found").reshape(8, 32).tolist() == expected
    assert saturation.array(result, "numbers").tolist() == [7, -173, 5, -3]
