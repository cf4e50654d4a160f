"""Times of single layers against arithmetic written down for each, with round constants."""

from __future__ import annotations

from dataclasses import replace
from math import isclose

import pytest

from cudla_sim.boards import check
from cudla_sim.boards.timing import OperationTime, estimate
from cudla_sim.boards.timing.parameters import parameters
from tests.boards.networks.graph import Graph

ROUND = replace(
    parameters(),
    orin_macs=8000, xavier_macs=2000, full_channels=128, channel_power=0.5, atom=32,
    group_block=64, depthwise_rate=50, stride_factor=2, output_rate=100, xavier_output_rate=10,
    pool_rate=20, xavier_pool_rate=8, rubik_rate=200, fp16_atom=16, softmax_cycles=10,
    xavier_efficiency=0.5, sparse_speedup=2, sparse_over=64, bandwidth=10, weight_buffer=100_000,
    gap_us=1, xavier_gap_us=20,
)  # fmt: skip
MHZ = 1000.0
"""So 1000 cycles are a microsecond, and 10,000 bytes another one."""


def only(
    g: Graph, output: str, board: str = "orin", int8: bool = True, sparse: bool = False
) -> OperationTime:
    report = check(g.model(output), board, int8=int8)
    times = estimate(report, clock_mhz=MHZ, values=ROUND, sparse=sparse, sram_bytes=0)
    (row,) = times.operations
    return row


def test_a_dense_convolution_of_enough_channels() -> None:
    g = Graph("conv", (1, 128, 10, 10))
    row = only(g, g.conv("input", 64, 3))
    macs = 64 * 100 * 128 * 9
    moved = 128 * 100 + 64 * 100 + 64 * 128 * 9 + 64
    compute = macs / 8000 + 64 * 100 / 100  # cycles
    assert row.macs == macs
    assert row.bytes == moved
    assert isclose(row.compute_ms * 1e6, compute)
    assert isclose(row.memory_ms * 1e3, moved / 1e4)
    assert row.bound == "memory"
    assert isclose(row.ms * 1e3, moved / 1e4 + 1)


def test_few_channels_leave_multipliers_idle() -> None:
    g = Graph("conv", (1, 32, 40, 40))
    row = only(g, g.conv("input", 32, 3))
    macs, out = 32 * 1600 * 32 * 9, 32 * 1600
    assert isclose(row.compute_ms * 1e6, macs / 8000 / (32 / 128) ** 0.5 + out / 100)


def test_channels_and_kernels_are_padded() -> None:
    g, h = Graph("odd", (1, 33, 40, 40)), Graph("even", (1, 64, 40, 40))
    odd, even = only(g, g.conv("input", 33, 3)), only(h, h.conv("input", 64, 3))
    out = 1600 / 100
    assert isclose(odd.compute_ms * 1e6 - 33 * out, even.compute_ms * 1e6 - 64 * out)


def test_the_lines_of_an_image() -> None:
    g = Graph("image", (1, 3, 64, 64))
    row = only(g, g.conv("input", 64, 7, 2))
    macs, out = 64 * 32 * 32 * 3 * 49, 64 * 32 * 32
    assert isclose(row.compute_ms * 1e6, macs / 8000 / (3 * 7 / 128) ** 0.5 + out / 100)
    assert row.bytes == 4 * 64 * 64 + out + 64 * 3 * 49 + 64  # kDLA_HWC4


def test_a_stride_costs_where_windows_overlap() -> None:
    for kernel, factor in ((3, 2), (1, 1)):
        g = Graph("stride", (1, 128, 40, 40))
        row = only(g, g.conv("input", 128, kernel, 2))
        macs = 128 * 400 * 128 * kernel**2
        assert isclose(row.compute_ms * 1e6, factor * macs / 8000 + 128 * 400 / 100)


def test_sparsity_needs_more_than_64_channels() -> None:
    for channels, speed in ((64, 1), (128, 2)):
        g = Graph("sparse", (1, channels, 40, 40))
        row = only(g, g.conv("input", 128, 3), sparse=True)
        macs = 128 * 1600 * channels * 9
        busy = (channels / 128) ** 0.5
        assert isclose(row.compute_ms * 1e6, macs / 8000 / busy / speed + 128 * 1600 / 100)


def test_groups_take_the_room_of_64_channels() -> None:
    g = Graph("groups", (1, 128, 40, 40))
    row = only(g, g.conv("input", 128, 3, groups=32))
    macs = 128 * 1600 * 64 * 9
    assert isclose(row.compute_ms * 1e6, macs / 8000 / (64 / 128) ** 0.5 + 128 * 1600 / 100)
    assert row.macs == 128 * 1600 * 4 * 9


def test_depthwise_has_a_unit_of_its_own() -> None:
    g = Graph("depthwise", (1, 128, 40, 40))
    row = only(g, g.conv("input", 128, 3, groups=128))
    assert isclose(row.compute_ms * 1e6, 128 * 1600 * 9 / 50)
    assert row.known == "depthwise"


def test_fp16_on_orin() -> None:
    g = Graph("fp16", (1, 20, 40, 40))
    row = only(g, g.conv("input", 16, 3), int8=False)
    assert isclose(row.compute_ms * 1e6, 16 * 1600 * 32 * 9 / 200)
    assert row.bytes == 2 * (20 * 1600 + 16 * 1600 + 16 * 20 * 9 + 16)


@pytest.mark.parametrize(("int8", "rate"), [(True, 2000), (False, 1000)])
def test_xavier(int8: bool, rate: int) -> None:
    g = Graph("xavier", (1, 64, 40, 40))
    row = only(g, g.conv("input", 64, 3), "xavier", int8)
    assert isclose(row.compute_ms * 1e6, 64 * 1600 * 64 * 9 / rate / 0.5)
    assert isclose(row.ms, max(row.compute_ms, row.memory_ms) + 0.02)


def test_weights_that_do_not_stay_make_the_input_come_again() -> None:
    g = Graph("weights", (1, 256, 10, 10))
    row = only(g, g.conv("input", 256, 3))
    weights, tensor = 256 * 256 * 9 + 256, 25_600
    passes = 6  # of 590,080 bytes, 100,000 at once
    assert row.bytes == (passes + 1) * tensor + weights
    assert isclose(row.memory_ms * 1e7, row.bytes)


@pytest.mark.parametrize(("board", "rate"), [("orin", 20), ("xavier", 8)])
def test_pooling_goes_by_what_comes_in(board: str, rate: int) -> None:
    g = Graph("pool", (1, 64, 40, 40))
    row = only(g, g.pool("input", 3, 2, 1), board)
    assert isclose(row.compute_ms * 1e6, 64 * 1600 / rate)


def test_a_concatenation_is_moved() -> None:
    g = Graph("concat", (1, 64, 40, 40))
    x = g.concat(g.conv("input", 32), g.conv("input", 32))
    times = estimate(check(g.model(x), int8=True), clock_mhz=MHZ, values=ROUND, sram_bytes=0)
    row = times.operations[-1]
    assert (row.compute_ms, row.bytes, row.bound) == (0.0, 4 * 32 * 1600, "memory")


def test_what_fits_into_sram_does_not_move() -> None:
    g = Graph("two", (1, 64, 16, 16))
    tensor, weights = 64 * 256, 64 * 64 * 9 + 64
    report = check(g.model(g.conv(g.conv("input", 64), 64)), int8=True)
    for sram, inner in ((tensor, 0), (tensor - 1, tensor)):
        first, second = estimate(report, sram_bytes=sram).operations
        assert first.bytes == tensor + inner + weights
        assert second.bytes == inner + tensor + weights


def test_a_tensor_stays_until_its_last_reader() -> None:
    g = Graph("late", (1, 64, 16, 16))
    tensor, weights = 64 * 256, 64 * 64 + 64
    x = g.conv("input", 64, 1)
    y = g.conv(g.conv(x, 64, 1), 64, 1)
    report = check(g.model(g.add(y, x)), int8=True)
    first, second, third = (row.bytes - weights for row in
                            estimate(report, sram_bytes=tensor).operations)  # fmt: skip
    assert (first, second, third) == (tensor, tensor, 2 * tensor)


def test_a_batch_goes_picture_by_picture() -> None:
    g, h = Graph("one", (1, 64, 16, 16)), Graph("four", (4, 64, 16, 16))
    one = check(g.model(g.conv("input", 64)), int8=True)
    four = check(h.model(h.conv("input", 64)), int8=True)
    assert isclose(estimate(one, batch=4).latency.value, estimate(four).latency.value)
    assert isclose(estimate(four, batch=1).latency.value, estimate(one).latency.value)
    assert isclose(estimate(one).latency.value * 4, estimate(four).latency.value)
