"""Sums, intervals, cores, transitions, notes; what is refused."""

from __future__ import annotations

from dataclasses import asdict
from math import inf, isclose, nan
from typing import Any

import onnx
import pytest

from cudla_sim.boards import DlaError, Report, check
from cudla_sim.boards.timing import estimate
from cudla_sim.boards.timing.parameters import Range
from tests.boards.networks.graph import Graph
from tests.boards.networks.residual import resnet50
from tests.boards.networks.small import model_bn


def network(channels: int = 64) -> onnx.ModelProto:
    g = Graph("small", (1, channels, 32, 32))
    return g.model(g.conv(g.conv("input", 64, act="relu"), 64))


@pytest.fixture(scope="module")
def report() -> Report:
    return check(network(), int8=True)


@pytest.fixture(scope="module")
def classifier() -> Report:
    """Its global average and flattening are on the GPU, its last layer is a subgraph again."""
    return check(model_bn(), int8=True)


def test_parts_add_up(classifier: Report) -> None:
    times = estimate(classifier)
    assert len(times.subgraphs) == 2
    for number, part in enumerate(times.subgraphs):
        rows = [row for row in times.operations if row.subgraph == number]
        assert part.operations == len(rows)
        assert isclose(part.ms.value, sum(row.ms for row in rows))
        assert isclose(part.ms.high, sum(row.ms * row.spread for row in rows))
        assert isclose(part.ms.low, sum(row.ms / row.spread for row in rows))
    assert isclose(times.dla.value, sum(part.ms.value for part in times.subgraphs))
    assert isclose(times.latency.value, times.dla.value + times.transitions.value)
    assert isclose(times.throughput.value, 1e3 / times.latency.value)
    assert isclose(times.throughput.low, 1e3 / times.latency.high)


def test_transitions_are_published_ranges_or_the_users(classifier: Report) -> None:
    times = estimate(classifier)
    assert (times.to_dla, times.from_dla) == (2, 2)
    assert isclose(times.transitions.low, 2 * 0.010 + 2 * 0.017)
    assert isclose(times.transitions.high, 2 * 0.043 + 2 * 0.074)
    own = estimate(classifier, to_dla=Range(1, 2, 3), from_dla=Range(0, 0, 0)).transitions
    assert asdict(own) == {"low": 2, "value": 4, "high": 6}


def test_without_the_gpu_there_are_no_transitions(report: Report) -> None:
    times = estimate(report)
    assert (times.to_dla, times.from_dla, times.transitions.value) == (0, 0, 0)
    assert any("formats of the DLA" in note for note in times.notes)


def test_layers_on_the_gpu_are_named_as_left_out(classifier: Report) -> None:
    times = estimate(classifier)
    assert len(times.gpu_layers) == 2
    assert any("2 layers on the GPU not in these times" in note for note in times.notes)


def test_two_cores(report: Report, classifier: Report) -> None:
    """Published: 2037 and 1008 images/s where all is on the DLA, else 87 % of twice one core."""
    for each, share in ((report, 1.0), (classifier, 0.87)):
        one, two = estimate(each), estimate(each, cores=2)
        assert isclose(two.throughput.value, 2 * share * one.throughput.value)
        assert isclose(two.latency.value * share, one.latency.value)


def test_modes_by_any_letters_and_their_clocks(report: Report) -> None:
    assert (estimate(report).mode, estimate(report).clock_mhz) == ("MAXN", 1600.0)
    times = estimate(report, "15w")
    assert (times.mode, times.clock_mhz, times.memory_mhz) == ("15W", 614.4, 2133.0)
    assert estimate(report, "15W", clock_mhz=1000).clock_mhz == 1000
    assert any("clock in 15W is inferred" in note for note in times.notes)
    assert not any("clock in" in note for note in estimate(report, clock_mhz=900).notes)


def test_the_memory_clock_counts_where_memory_decides() -> None:
    g = Graph("wide", (1, 1024, 4, 4))
    wide = check(g.model(g.conv("input", 1024)), int8=True)
    fast, slow = (estimate(wide, mode, clock_mhz=1600) for mode in ("MAXN", "15W"))
    assert {row.bound for row in (*fast.operations, *slow.operations)} == {"memory"}
    ratio = slow.operations[0].memory_ms / fast.operations[0].memory_ms
    assert isclose(ratio, 3199 / 2133)


def test_layers_that_are_kept_in_fp16(report: Report) -> None:
    last = report.network.layers[-1].name
    whole, mixed = estimate(report), estimate(report, fp16_layers=[last])
    assert [row.precision for row in mixed.operations] == ["int8", "fp16"]
    assert mixed.operations[1].engine == "Rubik"
    assert mixed.latency.value > whole.latency.value


def test_a_depthwise_network_says_why_its_interval_is_wide() -> None:
    g = Graph("depthwise", (1, 64, 32, 32))
    times = estimate(check(g.model(g.conv("input", 64, groups=64)), int8=True))
    assert any("100% of the time is depthwise" in note for note in times.notes)
    assert times.latency.high / times.latency.value > 1.9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "51W"}, r"no power mode '51W' \(did you mean 50W\?\); there are MAXN, 50W"),
        ({"mode": "turbo"}, "no power mode 'turbo'; there are MAXN"),
        ({"batch": 0}, "the batch is 0; 1 to 4096"),
        ({"batch": 4097}, "the batch is 4097"),
        ({"cores": 3}, "3 cores are asked for; orin has 2 DLA cores"),
        ({"cores": 0}, "0 cores"),
        ({"clock_mhz": 0.0}, "the clock is 0 MHz"),
        ({"clock_mhz": nan}, "the clock is nan MHz"),
        ({"clock_mhz": inf}, "the clock is inf MHz"),
        ({"sram_bytes": 100}, "100 bytes of SRAM; 0, or 4096 to 1048576"),
        ({"sram_bytes": 2 << 20}, "2097152 bytes of SRAM"),
        ({"fp16_layers": ["nobody"]}, "no layer is called 'nobody'"),
    ],
)
def test_what_is_not_possible(report: Report, options: dict[str, Any], words: str) -> None:
    with pytest.raises(DlaError, match=words):
        estimate(report, **options)


def test_sparsity_is_for_int8_on_orin() -> None:
    for board, int8 in (("xavier", True), ("orin", False)):
        with pytest.raises(DlaError, match="2:4 sparsity is for INT8 on Orin"):
            estimate(check(network(), board, int8=int8), sparse=True)


def test_boards_of_one_core_and_of_none() -> None:
    with pytest.raises(DlaError, match=r"orin-nx-8gb has 1 DLA core$"):
        estimate(check(network(), "orin-nx-8gb", int8=True), cores=2)
    with pytest.raises(DlaError, match="Jetson Orin Nano has no DLA"):
        check(network(), "orin-nano")


def test_nothing_on_the_dla() -> None:
    g = Graph("none", (1, 4, 8, 8))
    report = check(g.model(g.node("Erf", ["input"], (1, 4, 8, 8))), int8=True)
    times = estimate(report)
    assert (times.operations, times.latency.value, times.throughput.value) == ((), 0.0, 0.0)
    assert times.gpu_layers


def test_resnet_50_in_numbers_of_a_log() -> None:
    """1.278 ms at MAXN with two subgraphs (a public log) is within the interval."""
    latency = estimate(check(resnet50(), int8=True)).latency
    assert latency.low < 1.278 < latency.high
    assert latency.value == pytest.approx(1.278, rel=0.15)
