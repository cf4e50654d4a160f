"""Options together: several pictures, the second memory, tiles, and optimisations in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import Compiled, compile_graph
from cudla_sim.compiler.batch import batched
from cudla_sim.compiler.options import BLOCKS, FLYING, OPTIMISATIONS, OVERLAP, STACKING, Options
from cudla_sim.nvdla import Loadable, target
from cudla_sim.nvdla.descriptors import ConvOp, MemoryType, OpType, PdpSurface, SdpSurface
from cudla_sim.nvdla.timing import runs
from cudla_sim.nvdla.timing.parameters import Surroundings

from .blocks import Builder
from .running import ranges, run
from .test_optimisations import graphs

MACHINES = [("nv_full", "int8"), ("nv_full", "int16"), ("nv_full", "fp16"), ("nv_large", "int8")]


def compiled(graph: g.Graph, machine: tuple[str, str], pictures: int = 1, **more: Any) -> Compiled:
    """Checked by the compiler's last pass; scales are those of one picture."""
    config, precision = machine
    shape = graph.inputs[0].value.shape
    samples = [[np.random.default_rng(3).normal(size=shape).astype(np.float32)]]
    options = Options(config=config, precision=precision, **more)
    return compile_graph(batched(graph, pictures), ranges(graph, samples, precision), options)


def same(
    graph: g.Graph, machine: tuple[str, str], pictures: int, more: dict[str, Any], tiles: bool
) -> Compiled:
    """Compiled with *more*; each picture gets what it gets alone with everything left out."""
    alone = compiled(graph, machine, without=tuple(OPTIMISATIONS), batch_mode=False, winograd=tiles)
    found = compiled(graph, machine, pictures, winograd=tiles, **more)
    shape = pictures, *graph.inputs[0].value.shape[1:]
    images = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    expected = [run(alone, machine[0], [image[None]]) for image in images]
    whole = [np.concatenate(parts) for parts in zip(*expected, strict=True)]
    for one, two in zip(run(found, machine[0], [images]), whole, strict=True):
        np.testing.assert_array_equal(one, two)
    return found


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    graph=st.one_of(graphs(), graphs(1, 4)),
    machine=st.sampled_from(MACHINES),
    without=st.sets(st.sampled_from([*OPTIMISATIONS]), max_size=3),
    pictures=st.sampled_from([1, 2, 3, 5, 9]),
    cvsram=st.sampled_from([0, 1024, 8192, 1 << 20]),
    mode=st.booleans(),
    tiles=st.booleans(),
)
def test_any_of_them_at_once(
    graph: g.Graph,
    machine: tuple[str, str],
    without: set[str],
    pictures: int,
    cvsram: int,
    mode: bool,
    tiles: bool,
) -> None:
    if machine[1] == "fp16":
        without |= {BLOCKS}  # sums of blocks have another order
    more = {"without": tuple(without), "cvsram": cvsram, "batch_mode": mode}
    same(graph, machine, pictures, more, tiles and machine[0] == "nv_full")


def kinds(found: Compiled) -> list[OpType]:
    return [item.op_type for item in target.layers(Loadable.parse(found.loadable))]


def batches(found: Compiled) -> list[int]:
    """Pictures of each convolution."""
    made = [item.operation for item in target.layers(Loadable.parse(found.loadable))]
    return [item.batch for item in made if isinstance(item, ConvOp)]


def flying(found: Compiled) -> int:
    """Poolings that take results on the fly."""
    ends = [item.surface for item in target.layers(Loadable.parse(found.loadable))]
    return sum(isinstance(s, PdpSurface) and s.src.type == MemoryType.HW for s in ends)


def pooled(size: int, channels: int) -> g.Graph:
    b = Builder()
    return b.graph(b.pool(b.relu(b.conv(b.input(1, 16, size, size), channels, 3)), "max", 2, 2))


@pytest.mark.parametrize(
    ("size", "channels", "expected"), [(32, 16, ([1] * 4, 4)), (2, 64, ([4], 0))]
)
def test_pooling_takes_one_picture_on_the_fly(
    size: int, channels: int, expected: tuple[list[int], int]
) -> None:
    """Where several are computed together, their results go to memory first."""
    graph = pooled(size, channels)
    for without in ((), (OVERLAP,)):
        found = same(graph, ("nv_full", "int8"), 4, {"without": without}, tiles=False)
        assert (batches(found), flying(found)) == expected
    apart = same(graph, ("nv_full", "int8"), 4, {"without": (FLYING,)}, tiles=False)
    assert (batches(apart), flying(apart)) == (expected[0], 0)


def test_pooling_takes_no_tiles_on_the_fly() -> None:
    graph = pooled(32, 64)
    (first,) = graph.nodes[:1]
    assert isinstance(first, g.Conv)
    found = same(graph, ("nv_full", "int8"), 2, {}, tiles=True)
    made = [item.operation for item in target.layers(Loadable.parse(found.loadable))]
    modes = [item.conv_mode for item in made if isinstance(item, ConvOp)]
    assert set(modes) == {1}
    assert flying(found) == 0
    assert flying(same(graph, ("nv_full", "int8"), 2, {}, tiles=False)) == 2


def test_surfaces_of_all_pictures_are_one_operation() -> None:
    b = Builder()
    x = b.relu(b.conv(b.input(1, 8, 2, 2), 256))
    graph = b.graph(b.pool(x, "average", 2, 1))
    for without, count in (((), 1), ((STACKING,), 8)):
        found = same(graph, ("nv_full", "int8"), 16, {"without": without}, tiles=False)
        assert batches(found) == [16] * (1 + count)


def places(found: Compiled) -> list[tuple[tuple[int, int], ...]]:
    """(address, offset) of each pass's operand and result."""
    surfaces: Sequence[Any] = [
        item.surface for item in target.layers(Loadable.parse(found.loadable))
    ]
    return [
        ((s.x1.address, s.x1.offset), (s.dst.address, s.dst.offset))
        for s in surfaces
        if isinstance(s, SdpSurface) and s.x1.type in (MemoryType.MC, MemoryType.CV)
    ]


@pytest.mark.parametrize("room", [0, 1, 2, 3, 4])
def test_sums_lie_where_their_operand_lay_in_either_memory(room: int) -> None:
    b = Builder()
    x = b.relu(b.conv(b.input(1, 8, 12, 12), 32, 3))
    for _ in range(2):
        x = b.relu(b.binary("add", b.conv(b.relu(b.conv(x, 32, 3)), 32, 3), x))
    graph, size = b.graph(b.conv(x, 8, 3)), 32 * 12 * 12
    found = same(graph, ("nv_large", "int8"), 2, {"cvsram": room * 2 * size}, tiles=False)
    both = found.report["activation_bytes"], found.report["cvsram_bytes"]
    assert sum(both) == 2 * 2 * size
    assert both[1] == min(room, 2) * 2 * size


@pytest.mark.slow
def test_operations_wait_for_all_pictures() -> None:
    """The sums are those of one picture each, the convolutions those of all."""
    b = Builder()
    x = b.relu(b.conv(b.input(1, 16, 2, 2), 64))
    for _ in range(3):
        x = b.relu(b.binary("add", x, b.relu(b.affine(b.relu(b.conv(x, 64))))))
    graph = b.graph(b.conv(x, 64))
    found, serial = (
        same(graph, ("nv_full", "int8"), 8, {"without": without}, tiles=False)
        for without in ((), (OVERLAP,))
    )
    assert set(batches(found)) == {8}
    took = [
        runs.loadable(Loadable.parse(each.loadable), "", "nv_full", Surroundings()).cycles
        for each in (found, serial)
    ]
    assert took[0] < took[1]
