"""TensorDataFlow against the naive model, the worked examples, and each rule of the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cudla_sim.constants.cupva import cupvaError_t
from cudla_sim.cupva.dataflow.tensor import TensorDataFlow
from cudla_sim.cupva.errors import CupvaError

from . import naive
from .bench import HANDLER, Bench, bench
from .naive import BPE, CONST

INVALID = int(cupvaError_t.CUPVA_INVALID_ARGUMENT)
TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def align(size: int) -> int:
    return (size + 63) // 64 * 64


def double_size(plane: int, depth: int, bpp: int) -> int:
    """TDF_DOUBLE in bytes."""
    return align(2 * plane * bpp) * depth


def reader(
    machine: Bench, tensor: np.ndarray, tile: tuple[int, int, int], *, double: bool = False,
    halo: tuple[int, int] = (0, 0), mode: int = CONST, value: int = 0, roi: Any = None,
    strides: tuple[int, int] = (0, 0), extent: Any = None,
) -> TensorDataFlow:  # fmt: skip
    depth, height, width = extent or tensor.shape
    bpp = tensor.itemsize
    plane = (tile[0] + 2 * halo[0]) * (tile[1] + 2 * halo[1])
    layers = tile[2] or depth
    size = double_size(plane, layers, bpp) if double else plane * layers * bpp
    flow = TensorDataFlow()
    flow.handler(HANDLER)
    flow.tensor(True, machine.dram(tensor), (width, height, depth), strides, bpp)
    flow.tile(*tile)
    flow.halo(*halo, mode, value)
    if roi is not None:
        flow.roi(*roi)
    flow.tile_buffer(machine.variable(size))
    return flow


def transfers(machine: Bench, flow: TensorDataFlow, kind: Any) -> list[list[int]]:
    """The whole tile buffer after each transfer, as pixels."""
    width, height = flow.plane_size
    size = width * height * flow.tile_depth * flow.pixel_bytes
    tiles = flow.tiles(machine.memory.locate)
    found = []
    for number in machine.step(flow):
        at = tiles[number].vmem
        found.append(machine.vmem[at : at + size].view(kind).tolist())
    assert len(found) == len(tiles)
    return found


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    width, height, depth = (draw(st.integers(1, n)) for n in (13, 11, 5))
    tw, th = draw(st.integers(1, width)), draw(st.integers(1, height))
    td = draw(st.integers(1, depth))
    hx, hy = draw(st.integers(0, min(3, tw - 1))), draw(st.integers(0, min(3, th - 1)))
    roi = (
        draw(st.integers(-tw + 1, width - 1)), draw(st.integers(-th + 1, height - 1)),
        draw(st.integers(tw, 16)), draw(st.integers(th, 16)),
    )  # fmt: skip
    return {
        "shape": (depth, height, width),
        "tile": (tw, th, td),
        "halo": (hx, hy),
        "roi": draw(st.sampled_from([None, roi])),
        "mode": draw(st.sampled_from([CONST, BPE])),
        "value": draw(st.integers(0, 200)),
        "bpp": draw(st.sampled_from([1, 2, 4])),
        "double": draw(st.booleans()),
    }


@given(cases())
def test_reading(case: dict[str, Any]) -> None:
    shape, bpp = case.pop("shape"), case.pop("bpp")
    kind = TYPES[bpp]
    tensor = np.random.default_rng(sum(shape)).integers(0, 251, shape).astype(kind)
    with bench() as machine:
        flow = reader(machine, tensor, case.pop("tile"), **case)
        try:
            flow.moves(machine.memory.locate)
        except CupvaError:
            assume(False)  # what is illegal is tested by rule below
        expected = naive.tensor_transfers(
            tensor.tolist(), flow.roi_rectangle, (*flow.tile_size[:2], flow.tile_depth),
            flow.halo_size, case["mode"], case["value"],
        )  # fmt: skip
        before = int(np.full(bpp, 0xEE, np.uint8).view(kind)[0])
        width, height = flow.plane_size
        buffers: dict[int, list[int]] = {}
        tiles = flow.tiles(machine.memory.locate)
        found = transfers(machine, flow, kind)
        for number, planes in enumerate(expected):
            place = tiles[number].vmem
            content = buffers.setdefault(place, [before] * (width * height * flow.tile_depth))
            flat = [p for plane in planes for row in plane for p in row]
            content[: len(flat)] = flat  # planes past the depth keep what they had
            assert found[number] == content


@given(cases())
def test_writing(case: dict[str, Any]) -> None:
    (depth, height, width), bpp = case["shape"], case["bpp"]
    tw, th, td = case["tile"]
    roi = case["roi"] or (0, 0, width, height)
    x, y = max(0, roi[0]), max(0, roi[1])
    roi = (x, y, min(roi[2], width - x), min(roi[3], height - y))
    assume(tw <= roi[2] and th <= roi[3])
    kind = TYPES[bpp]
    with bench() as machine:
        flow = TensorDataFlow()
        flow.handler(HANDLER)
        image = np.full((depth, height, width), 9, kind)
        target = machine.dram(image)
        flow.tensor(False, target, (width, height, depth), (0, 0), bpp)
        flow.tile(tw, th, td)
        flow.roi(*roi)
        size = tw * th * td * bpp
        flow.tile_buffer(machine.variable(size))
        content = np.arange(tw * th * td).astype(kind)
        machine.vmem[128 : 128 + size] = content.view(np.uint8)
        machine.run(flow)
        expected = image.tolist()
        tile = content.reshape(td, th, tw).tolist()
        across, down = -(-roi[2] // tw), -(-roi[3] // th)
        for z in range(depth):
            plane = [tile[z % td]] * (across * down)
            naive.raster_write(expected[z], roi, (tw, th), plane)
        assert machine.read(target, image).tolist() == expected


def tiles_of(tensor: np.ndarray, tile: tuple[int, int, int], **options: Any) -> list[list[int]]:
    with bench() as machine:
        flow = reader(machine, tensor, tile, **options)
        return transfers(machine, flow, tensor.dtype)


def image(width: int, height: int, depth: int = 1) -> np.ndarray:
    return np.arange(width * height * depth, dtype=np.uint8).reshape(depth, height, width)


def test_example_a_constant() -> None:
    assert tiles_of(image(5, 3), (2, 2, 1), value=99) == [
        [0, 1, 5, 6], [2, 3, 7, 8], [4, 99, 9, 99], [10, 11, 99, 99], [12, 13, 99, 99],
        [14, 99, 99, 99],
    ]  # fmt: skip


def test_example_b_nearest_pixel() -> None:
    found = tiles_of(image(5, 3), (2, 2, 1), mode=BPE)
    assert found[2:] == [[4, 4, 9, 9], [10, 11, 10, 11], [12, 13, 12, 13], [14, 14, 14, 14]]


def test_example_c_halo() -> None:
    found = tiles_of(image(4, 4), (2, 2, 1), halo=(1, 1), value=77)
    assert found[0] == [77, 77, 77, 77, 77, 0, 1, 2, 77, 4, 5, 6, 77, 8, 9, 10]
    assert found[-1] == [5, 6, 7, 77, 9, 10, 11, 77, 13, 14, 15, 77, 77, 77, 77, 77]


def test_example_d_region_larger_than_the_tensor() -> None:
    found = tiles_of(image(2, 2), (2, 2, 1), roi=(-1, -1, 4, 4), value=50)
    assert found == [[50, 50, 50, 0], [50, 50, 1, 50], [50, 2, 50, 50], [3, 50, 50, 50]]


def test_example_e_depth_that_is_no_multiple() -> None:
    with bench() as machine:
        flow = reader(machine, image(2, 2, 3), (2, 2, 2))
        first, second = transfers(machine, flow, np.uint8)
        assert first == list(range(8))
        assert second == [8, 9, 10, 11, 4, 5, 6, 7]  # the second plane is what it was
        info = flow.device_info(machine.memory.locate)
        assert (info["niter_hw"], info["niter_c"], info["remainder"]) == (1, 2, 1)


def test_example_f_region_inside_the_tensor() -> None:
    found = tiles_of(image(6, 4), (2, 2, 1), roi=(1, 1, 3, 2))
    assert found == [[7, 8, 13, 14], [9, 10, 15, 16]]


def test_order_is_depth_then_width_then_height() -> None:
    with bench() as machine:
        flow = reader(machine, image(4, 4, 4), (2, 2, 2))
        tiles = flow.tiles(machine.memory.locate)
        assert [(t.x, t.y, t.plane) for t in tiles] == [
            (0, 0, 0), (0, 0, 2), (2, 0, 0), (2, 0, 2), (0, 2, 0), (0, 2, 2), (2, 2, 0), (2, 2, 2),
        ]  # fmt: skip


def test_strides() -> None:
    tensor = np.arange(120, dtype=np.uint8).reshape(2, 6, 10)
    cut = tensor[:, :4, :7]
    found = tiles_of(tensor, (7, 4, 2), strides=(10, 60), extent=(2, 4, 7))
    assert found == [cut.ravel().tolist()]


def test_depth_of_zero_is_all() -> None:
    assert tiles_of(image(2, 2, 3), (2, 2, 0)) == [list(range(12))]


def test_single_and_double_buffering() -> None:
    """Chosen by the room behind tileBuffer: TDF_DOUBLE or more is double."""
    for double, places in ((False, {128}), (True, {128, 128 + 64})):
        with bench() as machine:
            flow = reader(machine, image(8, 4), (2, 2, 1), double=double)
            tiles = flow.tiles(machine.memory.locate)
            if double:
                assert len({t.vmem for t in tiles}) == 2
            else:
                assert {t.vmem for t in tiles} == places


RULES: list[tuple[str, dict[str, Any], str]] = [
    ("halo < tile, width", {"tile": (4, 4, 1), "halo": (4, 0)}, "halo < tile"),
    ("halo < tile, height", {"tile": (4, 4, 1), "halo": (0, 4)}, "halo < tile"),
    ("tile <= roi", {"tile": (4, 4, 1), "roi": (0, 0, 3, 8)}, "tile <= roi"),
    ("tile <= tensor, width", {"tile": (9, 4, 1), "roi": (0, 0, 9, 8)}, "tile width 9"),
    ("tile <= tensor, depth", {"tile": (4, 4, 3)}, "tile depth 3"),
    ("roiX + tileWidth > 0", {"tile": (4, 4, 1), "roi": (-4, 0, 8, 8)}, "more than 0"),
    ("roiY + tileHeight > 0", {"tile": (4, 4, 1), "roi": (0, -4, 8, 8)}, "more than 0"),
    ("last tile touches, width", {"tile": (4, 4, 1), "roi": (4, 0, 5, 8)}, "last tile in x"),
    ("last tile touches, height", {"tile": (4, 4, 1), "roi": (0, 4, 8, 5)}, "last tile in y"),
    ("left and right at once", {"tile": (8, 8, 1), "halo": (1, 0)}, "left and right"),
    ("top and bottom at once", {"tile": (8, 8, 1), "halo": (0, 1)}, "top and bottom"),
    ("halo negative", {"tile": (4, 4, 1), "halo": (-1, 0)}, "halo|size"),
    ("tile missing", {"tile": (0, 0, 1)}, "tile"),
    ("row stride < width", {"tile": (4, 4, 1), "strides": (7, 0)}, "rowStride"),
    ("depth stride", {"tile": (4, 4, 1), "strides": (8, 8 * 256)}, "depthStride"),
]


@pytest.mark.parametrize(("rule", "options", "text"), RULES, ids=[r[0] for r in RULES])
def test_rules_of_reading(rule: str, options: dict[str, Any], text: str) -> None:
    with bench() as machine:
        options = dict(options)
        flow = TensorDataFlow()
        flow.handler(HANDLER)
        flow.tensor(
            True, machine.dram(image(8, 8, 2)), (8, 8, 2), options.get("strides", (0, 0)), 1
        )
        flow.tile(*options["tile"])
        flow.halo(*options.get("halo", (0, 0)))
        if "roi" in options:
            flow.roi(*options["roi"])
        flow.tile_buffer(machine.variable(4096))
        with pytest.raises(CupvaError, match=text) as caught:
            flow.moves(machine.memory.locate)
        assert caught.value.status == INVALID


@pytest.mark.parametrize(
    ("extent", "tile", "text"),
    [
        ((1025, 8, 1), (4, 4, 1), "257 tiles in width"),
        ((8, 1025, 1), (4, 4, 1), "257 tiles in height"),
        ((8, 8, 257), (4, 4, 1), "257 tiles in depth"),
        ((8, 8, 256), (4, 4, 256), "tile depth 256"),
        ((70000, 8, 1), (4096, 4, 1), "rowStride"),
    ],
)
def test_limits_of_size(
    extent: tuple[int, int, int], tile: tuple[int, int, int], text: str
) -> None:
    with bench() as machine:
        flow = TensorDataFlow()
        flow.handler(HANDLER)
        total = extent[0] * extent[1] * extent[2]
        flow.tensor(True, machine.dram(np.zeros(total, np.uint8)), extent, (0, 0), 1)
        flow.tile(*tile)
        flow.tile_buffer(machine.variable(1 << 16))
        with pytest.raises(CupvaError, match=text):
            flow.moves(machine.memory.locate)


def test_more_padding_than_the_engine_does() -> None:
    with bench() as machine:
        flow = TensorDataFlow()
        flow.handler(HANDLER)
        flow.tensor(True, machine.dram(np.zeros(600, np.uint8)), (600, 1, 1), (0, 0), 1)
        flow.tile(300, 1, 1)
        flow.roi(-256, 0, 600, 1)
        flow.tile_buffer(machine.variable(300))
        with pytest.raises(CupvaError, match="256 pixels of padding left"):
            flow.moves(machine.memory.locate)


def test_rules_of_writing_and_of_the_way() -> None:
    with bench() as machine:
        locate = machine.memory.locate
        target = machine.dram(image(8, 8))
        buffer = machine.variable(64)

        def flow(reads: bool = False) -> TensorDataFlow:
            made = TensorDataFlow()
            made.handler(HANDLER)
            made.tensor(reads, target, (8, 8, 1), (0, 0), 1)
            made.tile(4, 4)
            made.tile_buffer(buffer)
            return made

        def refused(made: TensorDataFlow, text: str) -> None:
            with pytest.raises(CupvaError, match=text) as caught:
                made.moves(locate)
            assert caught.value.status == INVALID

        haloed = flow()
        haloed.halo(1, 1)
        refused(haloed, "with a halo")
        outside = flow()
        outside.roi(1, 0, 8, 8)
        refused(outside, "leaves the destination")
        both = flow()
        both.tensor(True, target, (8, 8, 1), (0, 0), 1)
        refused(both, "both of src")
        neither = TensorDataFlow()
        neither.handler(HANDLER)
        refused(neither, "neither of src")
        silent = flow(True)
        silent.handler_symbol = None
        refused(silent, "handler")
        small = flow(True)
        small.tile_buffer(buffer + 56)
        refused(small, "TDF_SINGLE")
        wrong = flow(True)
        wrong.tile_buffer(target)
        refused(wrong, "not point into VMEM")
        inside = flow(True)
        inside.tensor(True, buffer, (8, 8, 1), (0, 0), 1)
        refused(inside, "points into VMEM")
        short = flow(True)
        short.tensor(True, target, (8, 9, 1), (0, 0), 1)
        refused(short, "touches bytes")
        with pytest.raises(CupvaError, match="padding mode"):
            flow().halo(0, 0, 5)
