"""fp16 arithmetic against the naive model: formats, multiply-accumulate in numpy and in C."""

from __future__ import annotations

from itertools import pairwise

import naive_fp16 as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.native.fp16 import Fp16Mac, available
from cudla_sim.nvdla.hw import floats
from cudla_sim.nvdla.hw.units.conv import fp16
from cudla_sim.nvdla.hw.units.conv.fp16 import Gather
from cudla_sim.nvdla.hw.units.conv.reference import fp16 as in_numpy

COMMON = settings(max_examples=300, deadline=None)

halves = st.integers(0, 0xFFFF)
ordinary = st.one_of(
    st.integers(0x2800, 0x4800), st.integers(0xA800, 0xC800), st.integers(0, 0x7BFF)
)
singles = st.one_of(
    st.integers(0, (1 << 32) - 1),
    st.integers(0x3F000000, 0x40FFFFFF),
    st.integers(0, 0x0100_0000),
    st.integers(0x7F00_0000, 0x7F80_0010),
)


def random_halves(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> np.ndarray:
    """Patterns: near 1, of all sizes, any bits at all, or with many zeros."""
    if kind == "near":
        return rng.normal(size=shape).astype(np.float16).view(np.uint16)
    patterns = rng.integers(0, 1 << 16, shape, np.uint16)
    finite = np.where(patterns & 0x7C00 == 0x7C00, patterns & 0xBBFF, patterns)
    if kind == "zeros":
        return np.where(rng.random(shape) < 0.7, patterns & 0x8000, finite).astype(np.uint16)
    if kind == "any":
        return np.where(rng.random(shape) < 0.01, patterns, finite).astype(np.uint16)
    return finite.astype(np.uint16)


def cut(rng: np.random.Generator, products: int) -> np.ndarray:
    """Random steps."""
    starts = [0]
    while starts[-1] < products:
        starts.append(min(products, starts[-1] + int(rng.integers(1, 65))))
    return np.array(starts)


KINDS = ["near", "sizes", "zeros", "any"]


@pytest.mark.slow
@COMMON
@given(
    st.integers(0, 2**32),
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.integers(1, 200),
    st.integers(1, 20),
    st.integers(1, 9),
    st.sampled_from(available()),
)
def test_c_and_numpy_agree(
    seed, kind, weight_kind, products, kernels, pixels, instructions
) -> None:
    rng = np.random.default_rng(seed)
    weights = fp16.prepare(random_halves(rng, (products, kernels), weight_kind), cut(rng, products))
    frame = random_halves(rng, (pixels * products,), kind)
    where = Gather(frame, np.arange(pixels) * products, np.arange(products))
    found = fp16.run(Fp16Mac(instructions), where, weights)
    np.testing.assert_array_equal(found, in_numpy.convolve(where, weights)[:, :kernels])


@pytest.mark.slow
@pytest.mark.parametrize("instructions", available())
@pytest.mark.parametrize("kind", KINDS)
def test_many_pixels_and_kernels(kind, instructions) -> None:
    """More than any implementation computes at a time, and a rest of each; whole steps."""
    rng = np.random.default_rng(5)
    products, kernels, pixels = 130, 77, 69
    weights = fp16.prepare(
        random_halves(rng, (products, kernels), kind), np.array([0, 64, 128, 130])
    )
    where = Gather(
        random_halves(rng, (pixels * products,), kind),
        np.arange(pixels) * products,
        np.arange(products),
    )
    found = fp16.run(Fp16Mac(instructions), where, weights)
    np.testing.assert_array_equal(found, in_numpy.convolve(where, weights)[:, :kernels])


def halves_of_scale(rng: np.random.Generator, scales: np.ndarray) -> np.ndarray:
    """Numbers whose exponents are 4 * scale and a random rest."""
    fields = np.maximum(4 * scales + rng.integers(0, 4, scales.shape), 1)
    bits = rng.integers(0, 0x400, scales.shape) | rng.integers(0, 2, scales.shape) << 15
    return (fields << 10 | bits).astype(np.uint16)


@pytest.mark.slow
@pytest.mark.parametrize("instructions", available())
@pytest.mark.parametrize("shift", range(8))
def test_each_shift(shift, instructions) -> None:
    """Sixty-three products are shifted by 4 * *shift* bits for the sake of the first one."""
    rng = np.random.default_rng(shift)
    kernels, pixels = 64, 300
    low = rng.integers(0, 2, (64, 1)) * min(shift, 3)  # the datum's part, and the weight's
    scales = np.concatenate([[[6]], np.clip(6 - shift + low[1:], 0, 6)])
    weights = fp16.prepare(
        halves_of_scale(rng, np.broadcast_to(scales, (64, kernels))), np.array([0, 64])
    )
    of_data = np.broadcast_to(np.concatenate([[[6]], 6 - low[1:]]).T, (pixels, 64))
    where = Gather(halves_of_scale(rng, of_data).reshape(-1), np.arange(pixels) * 64, np.arange(64))
    found = fp16.run(Fp16Mac(instructions), where, weights)
    np.testing.assert_array_equal(found, in_numpy.convolve(where, weights)[:, :kernels])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.integers(1, 150))
def test_numpy_and_naive_agree(seed, kind, products) -> None:
    rng = np.random.default_rng(seed)
    starts = cut(rng, products)
    raw = random_halves(rng, (products, 2), kind)
    frame = random_halves(rng, (2 * products,), kind)
    where = Gather(frame, np.array([0, products]), np.arange(products))
    found = in_numpy.convolve(where, fp16.prepare(raw, starts))
    for pixel in range(2):
        data = [int(item) for item in frame[pixel * products : (pixel + 1) * products]]
        for kernel in range(2):
            column = [int(item) for item in raw[:, kernel]]
            steps = [(data[a:b], column[a:b]) for a, b in pairwise(starts.tolist())]
            assert int(found[pixel, kernel]) == naive.accumulate(steps)


@pytest.mark.parametrize("weight", [0, 1, 0x3FF, 0x400, 0x1FFF, 0x3FF8, 0x2AA8, 0x1554])
def test_rows_of_the_multiplier(weight: int) -> None:
    """All data mantissas of a scale, all shifts, both signs."""
    data = np.concatenate([np.arange(0x400), np.arange(0x400, 0x800) << 3]).astype(np.int32)
    for negative in (0, 1):
        bits = np.full(len(data), (weight << 1) ^ (0x1FFFF if negative else 0), np.int32)
        first, second = in_numpy._rows(bits, data)
        for shift in range(0, 32, 4):
            total = (first >> shift) + (second >> shift) - (0x55550000 >> shift)
            total = (total & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
            for position in range(0, len(data), 37):
                wanted = naive.booth(negative, weight, int(data[position]), shift)
                assert int(total[position]) == wanted
            exact = data.astype(np.int64) * (-weight if negative else weight) >> shift
            assert np.abs(total - exact).max() <= 1


def single_of(patterns: list[int]) -> np.ndarray:
    return floats.single(np.array(patterns, np.uint32))


@COMMON
@given(st.lists(st.tuples(singles, singles), min_size=1, max_size=40))
def test_single_operations(pairs) -> None:
    pairs = [p for p in pairs if all(item & 0x7FFFFFFF != 0x7F800000 for item in p)]
    if not pairs:
        return
    a, b = single_of([p[0] for p in pairs]), single_of([p[1] for p in pairs])
    for ours, theirs in (
        (floats.add(a, b, floats.SINGLE), naive.add),
        (floats.multiply(a, b, floats.SINGLE), naive.multiply),
    ):
        wanted = [theirs(x, y, naive.SINGLE) for x, y in pairs]
        assert floats.single_bits(ours).tolist() == wanted
    ordered = [p for p in pairs if all(p[i] & 0x7F800000 or p[i] << 1 == 0 for i in (0, 1))]
    if ordered:
        a, b = single_of([p[0] for p in ordered]), single_of([p[1] for p in ordered])
        larger = [naive.maximum(x, y, naive.SINGLE) for x, y in ordered]
        smaller = [naive.minimum(x, y, naive.SINGLE) for x, y in ordered]
        assert floats.single_bits(floats.larger(a, b)).tolist() == larger
        assert floats.single_bits(floats.smaller(a, b)).tolist() == smaller


@COMMON
@given(st.lists(st.tuples(halves, halves), min_size=1, max_size=40))
def test_fp17_operations(pairs) -> None:
    wide = [tuple(naive.convert(item, naive.HALF, naive.FP17) for item in pair) for pair in pairs]
    a, b = (
        floats.widened(floats.half(np.array([p[i] for p in pairs], np.uint16)), floats.FP17)
        for i in (0, 1)
    )
    for ours, theirs in (
        (floats.add(a, b, floats.FP17), naive.add),
        (floats.multiply(a, b, floats.FP17), naive.multiply),
    ):
        wanted = [theirs(x, y, naive.FP17) for x, y in wide]
        np.testing.assert_array_equal(
            ours.view(np.int64), floats.fp17(np.array(wanted)).view(np.int64)
        )
        narrow = [naive.convert(item, naive.FP17, naive.HALF) for item in wanted]
        assert floats.half_bits(ours).tolist() == narrow


@COMMON
@given(st.lists(singles, min_size=1, max_size=60))
def test_conversions_of_single(patterns) -> None:
    # infinities do not occur, nor do NaNs that come from no fp16 NaN
    patterns = [p for p in patterns if p & 0x7F800000 != 0x7F800000 or 0 < p & 0x7FFFFF < 0x400]
    values = single_of(patterns)
    wanted = [naive.convert(p, naive.SINGLE, naive.HALF) for p in patterns]
    assert floats.half_bits(values).tolist() == wanted
    wanted = [naive.convert(p, naive.SINGLE, naive.FP17) for p in patterns]
    np.testing.assert_array_equal(
        floats.to_fp17(values).view(np.int64),
        (floats.fp17(np.array(wanted, np.int64)) if wanted else values).view(np.int64),
    )


def test_every_half_survives_widening() -> None:
    patterns = np.arange(1 << 16, dtype=np.uint16)
    finite = patterns[(patterns & 0x7FFF) != 0x7C00]
    np.testing.assert_array_equal(floats.half_bits(floats.half(finite)), finite)
