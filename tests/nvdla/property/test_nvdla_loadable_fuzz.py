"""No loadable, however damaged, gives anything but NvdlaError or MemoryFault, and always ends."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.core.memory import AddressSpace, MemoryFault
from cudla_sim.nvdla import Engine, Loadable, LoadedNetwork, NvdlaError
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.inspect import describe, render


def _seed(config: str, precision: str) -> bytes:
    rng = np.random.default_rng(2)
    net = Network(("data", (1, 3, 6, 6)), precision, config)
    first = net.conv2d(rng.normal(size=(9, 3, 3, 3)), padding=1, relu=True)
    net.add(first, net.conv2d(rng.normal(size=(9, 9, 1, 1))))
    net.max_pool(2)
    net.fully_connected(rng.normal(size=(4, 81)))
    net.softmax()
    return net.build(calibration=rng.normal(size=(2, 3, 6, 6)))


SEEDS = {
    ("nv_small", "int8"): _seed("nv_small", "int8"),
    ("nv_full", "fp16"): _seed("nv_full", "fp16"),
}
ENGINES = {config: Engine(config) for config, _ in SEEDS}


def try_to_run(data: bytes, config: str) -> None:
    """Parse, describe, load and run; only the documented exceptions may come out."""
    start = time.monotonic()
    explanation = "it ran"
    try:
        loadable = Loadable.parse(data)
        render(describe(loadable))
        space = AddressSpace()
        network = LoadedNetwork(loadable, space, config)
        inputs = [space.allocate(max(item.size, 1), name="input") for item in loadable.inputs]
        outputs = [space.allocate(max(item.size, 1), name="output") for item in loadable.outputs]
        ENGINES[config].run(
            network, [item.base for item in inputs], [item.base for item in outputs]
        )
    except (NvdlaError, MemoryFault) as error:
        explanation = str(error)
    assert explanation
    assert time.monotonic() - start < 20


def places(data: bytes) -> list[tuple[int, int]]:
    """(start, size) of the descriptor lists inside a loadable."""
    found = []
    for blob in Loadable.parse(data).blobs.values():
        if blob.name.startswith("task-"):
            found.append((data.index(bytes(blob.data)), blob.size))
    return found


RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@RELAXED
@given(
    st.sampled_from(list(SEEDS)),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_changed_bytes_anywhere(seed, changes) -> None:
    data = bytearray(SEEDS[seed])
    for position, value in changes:
        data[min(int(position * len(data)), len(data) - 1)] = value
    try_to_run(bytes(data), seed[0])


@pytest.mark.slow
@RELAXED
@given(
    st.sampled_from(list(SEEDS)),
    st.lists(
        st.tuples(
            st.integers(0, 99),
            st.floats(0, 1),
            st.sampled_from([0, 1, 2, 3, 5, 8, 0x20, 0x7F, 0x80, 0xFE, 0xFF]),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_changed_descriptors(seed, changes) -> None:
    data = bytearray(SEEDS[seed])
    lists = places(SEEDS[seed])
    for which, position, value in changes:
        start, size = lists[which % len(lists)]
        data[start + min(int(position * size), size - 1)] = value
    try_to_run(bytes(data), seed[0])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(SEEDS)), st.floats(0, 1), st.binary(max_size=40))
def test_truncated_and_extended(seed, share, tail) -> None:
    data = SEEDS[seed]
    try_to_run(data[: int(share * len(data))] + tail, seed[0])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_arbitrary_bytes(data) -> None:
    with pytest.raises(NvdlaError):
        Loadable.parse(data)


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=16, max_size=300))
def test_arbitrary_bytes_behind_a_plausible_head(data) -> None:
    head = (8).to_bytes(4, "little") + b"NVDA"
    with pytest.raises(NvdlaError):
        Loadable.parse(head + data)
