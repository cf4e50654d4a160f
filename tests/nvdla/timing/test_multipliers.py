"""How much of the multipliers an operation uses: never more than there are."""

from __future__ import annotations

from dataclasses import fields
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.nvdla import Loadable
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.facts.precisions import FP16, INT8, INT16, NUMBERS
from cudla_sim.nvdla.hw.units.conv.registers import Cdma, Csc
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.durations import Durations
from cudla_sim.nvdla.timing.parameters import Surroundings

MACS = {
    ("nv_full", INT8): 2048,
    ("nv_full", INT16): 1024,
    ("nv_full", FP16): 1024,
    ("nv_large", INT8): 2048,
    ("nv_medium_1024_full", INT8): 1024,
    ("nv_medium_512", INT8): 512,
    ("nv_small_256_full", INT8): 256,
    ("nv_small_256", INT8): 256,
    ("nv_small", INT8): 64,
}
"""Of a cycle, as the hardware's sources say (``spec/defs/*.spec``)."""


@pytest.mark.parametrize(("config", "precision"), MACS)
def test_multiplications_of_a_cycle(config: str, precision: int) -> None:
    assert CONFIGS[config].macs_per_cycle(precision) == MACS[config, precision]


def network(config: str, precision: str, channels: int, kernels: int, size: int) -> runs.TimedRun:
    random = np.random.default_rng(1)
    net = Network(("data", (1, channels, size, size)), precision, config)
    net.conv2d(random.normal(size=(kernels, channels, 3, 3)), padding=1)
    image = net.build(calibration=random.normal(size=(1, channels, size, size)))
    return runs.loadable(Loadable.parse(image), "net", config, Surroundings())


@pytest.mark.parametrize(("config", "precision"), [
    ("nv_full", "int8"), ("nv_full", "fp16"), ("nv_large", "int8"), ("nv_small", "int8")
])  # fmt: skip
def test_a_large_convolution_uses_most_of_them(config: str, precision: str) -> None:
    """Kernels and channels fill the array, padding is multiplied, too."""
    run = network(config, precision, 64, 64, 40)
    (operation,) = run.operations
    assert 0.75 < operation.mac_utilization <= 1
    products = 64 * 64 * 9 * 40 * 40
    assert operation.macs == run.macs == products
    rate = CONFIGS[config].macs_per_cycle(NUMBERS[precision])
    assert run.mac_utilization == pytest.approx(products / rate / run.cycles)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([("nv_full", "int8"), ("nv_full", "int16"), ("nv_small", "int8")]),
    st.integers(1, 80),
    st.integers(1, 80),
    st.integers(3, 24),
)
def test_no_operation_uses_more_than_there_are(
    target: tuple[str, str], channels: int, kernels: int, size: int
) -> None:
    run = network(*target, channels, kernels, size)
    assert all(o.mac_utilization <= 1 for o in run.operations)
    assert run.mac_utilization <= 1


@given(st.integers(1, 40), st.integers(1, 100), st.integers(1, 30), st.integers(1, 30))
def test_winograd_multiplies_four_times_for_an_output(
    blocks: int, kernels: int, width: int, height: int
) -> None:
    """4 x 4 elements of 4 channels are one cycle's work of a kernel and make 2 x 2 outputs."""
    zero = dict.fromkeys((f.name for f in fields(Cdma)), 0)
    cdma = Cdma(**{**zero, "conv_mode": 1, "batches": 1, "weight_bytes": 64 * blocks * kernels,
                   "channels": 4 * blocks, "width": width + 2, "height": height + 2})  # fmt: skip
    zero = dict.fromkeys((f.name for f in fields(Csc)), 0)
    csc = Csc(**{**zero, "conv_mode": 1, "batches": 1, "kernels": kernels, "channels": 4 * blocks,
                 "rows": 4, "columns": 4, "out_width": width, "out_height": height})  # fmt: skip
    config = CONFIGS["nv_full"]
    cost = Durations(config, Surroundings()).convolution(cdma, csc, [])
    tiles = ceil(width / 2) * ceil(height / 2)
    assert cost.macs == kernels * blocks * 64 * tiles
    assert cost.macs <= cost.compute * config.macs_per_cycle(INT8)
