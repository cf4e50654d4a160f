"""StaticDataFlow against the naive model, the worked examples, and each rule of the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cudla_sim.constants.cupva import cupvaError_t
from cudla_sim.cupva.dataflow.raster import RasterDataFlow
from cudla_sim.cupva.dataflow.static import Granularity, PadDir, StaticDataFlow
from cudla_sim.cupva.errors import CupvaError

from . import naive
from .bench import HANDLER, Bench, bench
from .naive import BPE, CONST, Ring, Static

INVALID = int(cupvaError_t.CUPVA_INVALID_ARGUMENT)
TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def build(model: Static, source: int, target: int, bpp: int = 1, **options: Any) -> StaticDataFlow:
    """The engine's dataflow for a naive one."""
    flow = StaticDataFlow()
    flow.bpp(bpp)
    flow.tile(*model.tile)
    flow.src(source + model.src_at * bpp)
    flow.dst(target + model.dst_at * bpp)
    flow.line_pitch("source", model.src_pitch)
    flow.line_pitch("destination", model.dst_pitch)
    for side, dims in (("source", model.src_dims), ("destination", model.dst_dims)):
        for number, (niter, adv) in enumerate(dims, 1):
            flow.dim(side, number, niter, adv)
    for side, at, ring in (
        ("source", model.src_at, model.src_ring), ("destination", model.dst_at, model.dst_ring),
    ):  # fmt: skip
        if ring.size is not None:
            flow.circular_buffer(side, ring.base - at, ring.size)
    names = (PadDir.LEFT, PadDir.RIGHT, PadDir.TOP, PadDir.BOTTOM)
    for direction, count in zip(names, model.pads, strict=True):
        if count:
            flow.pad_dim(direction, count)
    flow.pad_val(model.mode, model.value)
    flow.granularity(options.get("granularity", Granularity.TILE))
    flow.handler(HANDLER)
    return flow


def compare(model: Static, pixels: np.ndarray, size: int, bpp: int = 1) -> None:
    """Runs both; VMEM is equal afterwards, what was not written included."""
    with bench() as machine:
        source = machine.dram(pixels)
        target = machine.variable(size * bpp)
        machine.run(build(model, source, target, bpp))
        kind = TYPES[bpp]
        before = int(np.full(bpp, 0xEE, np.uint8).view(kind)[0])
        expected = [before] * size
        model.run(pixels.ravel().tolist(), expected)
        assert machine.vmem[128 : 128 + size * bpp].view(kind).tolist() == expected
        assert (machine.vmem[:128] == 0xEE).all()
        assert (machine.vmem[128 + size * bpp :] == 0xEE).all()


def reach(tile: tuple[int, int], pitch: int, dims: naive.Dims) -> tuple[int, int]:
    """Lowest and one past the highest pixel that a walk touches."""
    offsets = naive.walk(dims)
    span = (tile[1] - 1) * pitch + tile[0]
    return min(offsets), max(offsets) + span


@st.composite
def patterns(draw: st.DrawFn) -> tuple[Static, int, int]:
    """A legal pattern, and the pixels that source and target need."""
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    pads = [0, 0, 0, 0]
    if width > 1:
        pads[draw(st.integers(0, 1))] = draw(st.integers(0, width - 1))
    if height > 1:
        pads[draw(st.integers(2, 3))] = draw(st.integers(0, height - 1))
    counts = draw(st.lists(st.integers(1, 4), min_size=3, max_size=3))
    total = counts[0] * counts[1] * counts[2]
    split = draw(st.sampled_from([d for d in range(1, total + 1) if total % d == 0]))
    advance = st.integers(-20, 20)
    src_dims = [(n, draw(advance)) for n in counts]
    dst_dims = [(split, draw(advance)), (total // split, draw(advance))]
    model = Static(
        (width, height),
        src_pitch=draw(st.integers(0, 16)),
        src_dims=src_dims,
        dst_pitch=draw(st.integers(0, 16)),
        dst_dims=dst_dims,
        pads=(pads[0], pads[1], pads[2], pads[3]),
        mode=draw(st.sampled_from([CONST, BPE])),
        value=draw(st.integers(0, 255)),
    )
    read = (width - pads[0] - pads[1], height - pads[2] - pads[3])
    low, high = reach(read, model.src_pitch, src_dims)
    model.src_at = -low
    source_size = high - low
    low, high = reach(model.tile, model.dst_pitch, dst_dims)
    model.dst_at = -low
    return model, source_size, high - low


@given(patterns(), st.sampled_from([1, 2, 4]))
def test_any_pattern(drawn: tuple[Static, int, int], bpp: int) -> None:
    model, source_size, target_size = drawn
    pixels = np.random.default_rng(source_size).integers(0, 251, source_size).astype(TYPES[bpp])
    compare(model, pixels, target_size, bpp)


@given(
    width=st.integers(1, 170),
    height=st.integers(1, 3),
    pad=st.integers(0, 24),
    right=st.booleans(),
    gap=st.integers(0, 3),
    tiles=st.integers(1, 3),
    mode=st.sampled_from([CONST, BPE]),
    bpp=st.sampled_from([1, 2, 4]),
)
def test_rows_of_any_length(
    width: int, height: int, pad: int, right: bool, gap: int, tiles: int, mode: int, bpp: int
) -> None:
    """Each number of vectors, and halos of each number of bytes, have a way of their own."""
    pads = (0, min(pad, width - 1), 0, 0) if right else (min(pad, width - 1), 0, 0, 0)
    size = height * (width + gap)
    model = Static(
        (width, height),
        src_pitch=width + 1, src_dims=[(tiles, 5)],
        dst_pitch=width + gap, dst_dims=[(tiles, size)],
        pads=pads, mode=mode, value=200,
    )  # fmt: skip
    count = (height - 1) * model.src_pitch + width + 5 * (tiles - 1)
    pixels = np.random.default_rng(width).integers(0, 251, count).astype(TYPES[bpp])
    compare(model, pixels, tiles * size, bpp)


@given(
    tile=st.tuples(st.integers(1, 8), st.integers(1, 3)),
    pitch=st.integers(0, 9),
    count=st.integers(1, 9),
    advances=st.tuples(st.integers(-9, 9), st.integers(-9, 9)),
    length=st.integers(1, 40),
    start=st.integers(0, 10),
)
def test_circular_on_both_sides(
    tile: tuple[int, int],
    pitch: int,
    count: int,
    advances: tuple[int, int],
    length: int,
    start: int,
) -> None:
    """Every byte address wraps: rows straddle the end of the buffer."""
    assume((tile[1] - 1) * pitch + tile[0] <= length)
    model = Static(
        tile,
        src_at=start, src_pitch=pitch, src_dims=[(count, advances[0])],
        src_ring=Ring(start, length),
        dst_at=start, dst_pitch=pitch, dst_dims=[(count, advances[1])],
        dst_ring=Ring(start, length),
    )  # fmt: skip
    pixels = np.arange(start + length, dtype=np.uint8)
    compare(model, pixels, start + length)


def vmem_after(flow_of: Any, pixels: list[int], size: int) -> list[int]:
    with bench() as machine:
        source = machine.dram(np.array(pixels, np.uint8))
        target = machine.variable(size)
        flow = StaticDataFlow()
        flow.handler(HANDLER)
        flow.src(source)
        flow.dst(target)
        flow_of(flow)
        machine.run(flow)
        return machine.vmem[128 : 128 + size].tolist()


def test_example_1_copy_in_tiles() -> None:
    def flow(f: StaticDataFlow) -> None:
        f.tile(4, 2)
        f.line_pitch("source", 8)
        f.line_pitch("destination", 4)
        f.dim("source", 1, 2, 4)
        f.dim("source", 2, 2, 16)
        f.dim("destination", 1, 4, 8)

    expected = [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15]
    expected += [16, 17, 18, 19, 24, 25, 26, 27, 20, 21, 22, 23, 28, 29, 30, 31]
    assert vmem_after(flow, list(range(32)), 32) == expected


def test_example_3_left_constant() -> None:
    def flow(f: StaticDataFlow) -> None:
        f.tile(4, 1)
        f.pad_dim(PadDir.LEFT, 1)
        f.pad_val(CONST, 99)

    assert vmem_after(flow, [10, 11, 12, 13], 4) == [99, 10, 11, 12]


def test_example_4_corner_with_nearest_pixels() -> None:
    def flow(f: StaticDataFlow) -> None:
        f.tile(3, 3)
        f.line_pitch("source", 2)
        f.line_pitch("destination", 3)
        f.pad_dim(PadDir.TOP | PadDir.RIGHT, 1)
        f.pad_val(BPE)

    assert vmem_after(flow, [1, 2, 3, 4], 9) == [1, 2, 2, 1, 2, 2, 3, 4, 4]


@pytest.mark.parametrize(("width", "adv", "count"), [(4, 4, 3), (6, 6, 2)])
def test_examples_5_and_6_circular_destination(width: int, adv: int, count: int) -> None:
    def flow(f: StaticDataFlow) -> None:
        f.tile(width, 1)
        f.dim("source", 1, count, adv)
        f.dim("destination", 1, count, adv)
        f.circular_buffer("destination", 0, 8)

    assert vmem_after(flow, list(range(1, 13)), 8) == [9, 10, 11, 12, 5, 6, 7, 8]


def test_example_7_transposed_tiles() -> None:
    def flow(f: StaticDataFlow) -> None:
        f.tile(1, 1)
        f.dim("source", 1, 2, 4)
        f.dim("source", 2, 4, 1)
        f.dim("destination", 1, 8, 1)

    assert vmem_after(flow, list(range(8)), 8) == [0, 4, 1, 5, 2, 6, 3, 7]


@pytest.mark.parametrize(
    ("granularity", "triggers"),
    [(Granularity.TILE, 4), (Granularity.DIM1, 2), (Granularity.DIM2, 1), (Granularity.ALL, 1)],
)
def test_example_2_granularity(granularity: Granularity, triggers: int) -> None:
    model = Static((4, 2), src_pitch=8, src_dims=[(2, 4), (2, 16)], dst_pitch=4, dst_dims=[(4, 8)])
    with bench() as machine:
        source = machine.dram(np.arange(32, dtype=np.uint8))
        target = machine.variable(32)
        flow = build(model, source, target, granularity=granularity)
        moved = []
        for _ in machine.step(flow):
            moved.append(int((machine.vmem[128:160] != 0xEE).sum()))
        assert moved == [32 * (i + 1) // triggers for i in range(triggers)]
        assert [t.trigger for t in flow.tiles(machine.memory.locate)] == [
            n * triggers // 4 for n in range(4)
        ]


def _two(machine: Bench, size: int) -> tuple[StaticDataFlow, StaticDataFlow]:
    source = machine.dram(np.arange(16, dtype=np.uint8))
    target = machine.variable(size)
    flows = []
    for number in range(2):
        flow = StaticDataFlow(f"flow {number}")
        flow.tile(4)
        flow.src(source + 4 * number)
        flow.dst(target + 4 * number)
        flows.append(flow)
    flows[0].handler(HANDLER)
    return flows[0], flows[1]


def test_example_8_link_and_append() -> None:
    for join, steps in (("link", 2), ("append", 1)):
        with bench() as machine:
            first, second = _two(machine, 8)
            getattr(first, join)(second)
            assert len(list(machine.step(first))) == steps
            assert machine.vmem[128:136].tolist() == list(range(8))


def test_a_list_is_taken_over_with_its_own_list() -> None:
    """s0.link(s1), s2.link(s0): the list of s2 is s2, s0, s1."""
    s0, s1, s2 = (StaticDataFlow(str(i)) for i in range(3))
    s0.link(s1)
    s2.link(s0)
    assert s2.chain() == [s2, s0, s1]
    with pytest.raises(CupvaError):
        s1.link(s2)
    with pytest.raises(CupvaError):
        s0.link(s1)


def test_only_primitive_dataflows_are_linked() -> None:
    with pytest.raises(CupvaError, match="cannot be linked"):
        StaticDataFlow().link(RasterDataFlow())


def test_a_dummy_transfer_moves_nothing_but_has_its_trigger() -> None:
    with bench() as machine:
        first, second = _two(machine, 8)
        second.tile(0, 0)
        first.link(second)
        assert len(list(machine.step(first))) == 2
        assert machine.vmem[132:136].tolist() == [0xEE] * 4


def test_a_second_destination_gets_the_same() -> None:
    with bench() as machine:
        source = machine.dram(np.arange(8, dtype=np.uint8))
        target = machine.variable(256)
        flow = StaticDataFlow()
        flow.tile(8)
        flow.src(source)
        flow.dst(target, target + 64)
        machine.run(flow)
        assert machine.vmem[128:136].tolist() == machine.vmem[192:200].tolist() == list(range(8))


def test_out_of_vmem_and_between_buffers() -> None:
    with bench() as machine:
        source = machine.variable(64)
        machine.vmem[128:192] = np.arange(64)
        target = machine.dram(np.zeros(64, np.uint8))
        other = machine.dram(np.zeros(64, np.uint8))
        out = StaticDataFlow()
        out.tile(64)
        out.src(source)
        out.dst(target)
        machine.run(out)
        copy = StaticDataFlow()
        copy.tile(64)
        copy.src(target)
        copy.dst(other)
        machine.run(copy)
        assert machine.read(other, np.zeros(64, np.uint8)).tolist() == list(range(64))


SETTERS = [
    ("bpp 0", lambda f: f.bpp(0)),
    ("tile negative", lambda f: f.tile(-1, 1)),
    ("tile without rows", lambda f: f.tile(4, 0)),
    ("tile too wide", lambda f: f.tile(65536, 1)),
    ("opposite sides in one call", lambda f: f.pad_dim(PadDir.LEFT | PadDir.RIGHT, 1)),
    ("opposite sides in one call, vertical", lambda f: f.pad_dim(PadDir.TOP | PadDir.BOTTOM, 1)),
    ("padding too large", lambda f: f.pad_dim(PadDir.TOP, 256)),
    ("padding negative", lambda f: f.pad_dim(PadDir.TOP, -1)),
    ("no such direction", lambda f: f.pad_dim(16, 1)),
    ("no such padding mode", lambda f: f.pad_val(3)),
    ("no such granularity", lambda f: f.granularity(5)),
    ("source pitch", lambda f: f.line_pitch("source", 65536)),
    ("destination pitch", lambda f: f.line_pitch("destination", -1)),
    ("niter 0", lambda f: f.dim("source", 1, 0, 1)),
    ("niter 257", lambda f: f.dim("destination", 3, 257, 1)),
    ("advance", lambda f: f.dim("source", 2, 2, 1 << 23)),
    ("circular length", lambda f: f.circular_buffer("source", 0, 0)),
]


@pytest.mark.parametrize(("what", "call"), SETTERS, ids=[s[0] for s in SETTERS])
def test_setters_refuse(what: str, call: Any) -> None:
    with pytest.raises(CupvaError) as caught:
        call(StaticDataFlow())
    assert caught.value.status == INVALID
    assert caught.value.explanation


def test_handler_must_be_in_vmem() -> None:
    with pytest.raises(CupvaError, match="not a variable in VMEM"):
        StaticDataFlow().handler(HANDLER._replace(offset=-1))


COMPILE = [
    ("opposite sides in two calls", {"pads": (1, 1, 0, 0)}, {}, "both"),
    ("padding as wide as the tile", {"pads": (4, 0, 0, 0)}, {}, "real pixel"),
    ("different numbers of tiles", {"src_dims": [(2, 4)]}, {}, "same number"),
    ("source too small", {"src_dims": [(9, 8)], "dst_dims": [(9, 0)]}, {}, "touches bytes"),
    ("source before its buffer", {"src_dims": [(2, -1)], "dst_dims": [(2, 0)]}, {}, "touches"),
    ("destination too small", {"src_dims": [(9, 0)], "dst_dims": [(9, 8)]}, {}, "VMEM"),
    ("padding of other pixels", {"pads": (1, 0, 0, 0)}, {"bpp": 3}, "1, 2 or 4"),
    ("tile larger than its ring", {"dst_ring": Ring(0, 3)}, {}, "does not fit"),
]


@pytest.mark.parametrize(("what", "model", "options", "text"), COMPILE, ids=[c[0] for c in COMPILE])
def test_compilation_refuses(
    what: str, model: dict[str, Any], options: dict[str, int], text: str
) -> None:
    static = Static((4, 1), **model)
    with bench() as machine:
        source = machine.dram(np.zeros(64, np.uint8))
        flow = build(static, source, machine.variable(64), **options)
        with pytest.raises(CupvaError, match=text) as caught:
            flow.moves(machine.memory.locate)
        assert caught.value.status == INVALID


def test_pointers_are_checked() -> None:
    with bench() as machine:
        flow = StaticDataFlow()
        flow.tile(4)
        locate = machine.memory.locate
        source, target = machine.dram(np.zeros(64, np.uint8)), machine.variable(256)
        for src, dst, second, text in (
            (None, target, None, "source pointer is not set"),
            (0x1234, target, None, "no device pointer"),
            (machine.memory.host_address(source), target, None, "host's view"),
            (source, source, target, "first one in VMEM|VMEM"),
            (source, target, source, "not in VMEM"),
            (source, target, target + 32, "aligned"),
        ):
            flow.source.pointer = src
            flow.dst(dst, second)
            with pytest.raises(CupvaError, match=text):
                flow.moves(locate)
        flow.src(source)
        flow.dst(source + 32)
        flow.handler(HANDLER)
        with pytest.raises(CupvaError, match="one side in VMEM"):
            flow.moves(locate)
        machine.memory.free(source)
        machine._buffers.remove(source)
        with pytest.raises(CupvaError, match="no live allocation"):
            flow.moves(locate)


def test_copy_takes_all_fields() -> None:
    with bench() as machine:
        source = machine.dram(np.arange(32, dtype=np.uint8))
        target = machine.variable(32)
        model = Static(
            (4, 2), src_pitch=8, src_dims=[(2, 4)], dst_pitch=4, dst_dims=[(2, 8)],
            pads=(0, 1, 0, 0), value=7,
        )  # fmt: skip
        flow, other = build(model, source, target), StaticDataFlow()
        other.copy(flow)
        machine.run(other)
        copied = machine.vmem.copy()
        machine.vmem.fill(0xEE)
        machine.run(flow)
        assert (machine.vmem == copied).all()
