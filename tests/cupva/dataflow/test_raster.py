"""RasterDataFlow against the naive model, the worked examples, and its rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cudla_sim.cupva.dataflow.raster import Layout, RasterDataFlow
from cudla_sim.cupva.errors import CupvaError

from . import naive
from .bench import HANDLER, Bench, bench
from .naive import BPE, CONST

TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def sizes(tile: tuple[int, int], halo: tuple[int, int], bpp: int) -> dict[Layout, int]:
    """RDF_SINGLE, RDF_DOUBLE and RDF_CIRCULAR in bytes."""
    single = (tile[0] + 2 * halo[0]) * (tile[1] + 2 * halo[1]) * bpp
    double = (2 * single + 63) // 64 * 64
    return {Layout.SINGLE: single, Layout.DOUBLE: double, Layout.CIRCULAR: double + 64}


def reader(
    machine: Bench, image: np.ndarray, tile: tuple[int, int], layout: Layout,
    halo: tuple[int, int] = (0, 0), mode: int = CONST, value: int = 0, roi: Any = None,
    scan: int = 0,
) -> RasterDataFlow:  # fmt: skip
    height, width = image.shape
    flow = RasterDataFlow()
    flow.handler(HANDLER)
    flow.image(True, machine.dram(image), width, height, 0, image.itemsize)
    flow.tile(*tile)
    flow.halo(*halo, mode, value)
    flow.scan_order(scan)
    if roi is not None:
        flow.roi(*roi)
    flow.tile_buffer(machine.variable(sizes(tile, halo, image.itemsize)[layout]))
    return flow


def tile_pixels(machine: Bench, flow: RasterDataFlow, number: int, kind: Any) -> list[list[int]]:
    """A tile as a VPU program finds it: by offset, line pitch, and the ring's length."""
    info = flow.device_info(machine.memory.locate)
    if info["layout"] == Layout.DOUBLE:
        offset = info["half"] // flow.pixel_bytes if number & 1 else 0
    elif info["layout"] == Layout.CIRCULAR:
        offset = number * info["advance"] % info["ring"]
    else:
        offset = 0
    width, height = flow.vmem_size
    pixels = machine.vmem[info["buffer"] :].view(kind)
    size = info["ring"] or 1 << 30
    return [
        [int(pixels[(offset + y * info["line_pitch"] + x) % size]) for x in range(width)]
        for y in range(height)
    ]


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    width, height = draw(st.integers(1, 20)), draw(st.integers(1, 16))
    tile = (draw(st.integers(1, 9)), draw(st.integers(1, 9)))
    roi = (
        draw(st.integers(-6, width)), draw(st.integers(-6, height)),
        draw(st.integers(1, 24)), draw(st.integers(1, 20)),
    )  # fmt: skip
    return {
        "shape": (height, width),
        "tile": tile,
        "halo": (draw(st.integers(0, 4)), draw(st.integers(0, 4))),
        "roi": draw(st.sampled_from([None, roi])),
        "mode": draw(st.sampled_from([CONST, BPE])),
        "value": draw(st.integers(0, 200)),
        "bpp": draw(st.sampled_from([1, 2, 4])),
        "layout": draw(st.sampled_from(list(Layout))),
        "scan": draw(st.integers(0, 7)),
    }


@given(cases())
def test_reading(case: dict[str, Any]) -> None:
    shape, bpp, tile = case.pop("shape"), case.pop("bpp"), case.pop("tile")
    kind = TYPES[bpp]
    image = np.random.default_rng(sum(shape)).integers(0, 251, shape).astype(kind)
    with bench() as machine:
        flow = reader(machine, image, tile, **case)
        try:
            flow.moves(machine.memory.locate)
        except CupvaError as error:
            assume("does not touch" not in error.explanation)
            raise
        expected = naive.raster_tiles(
            image.tolist(), flow.roi_rectangle, tile, case["halo"], case["mode"], case["value"],
            case["scan"],
        )  # fmt: skip
        if not any(case["halo"]) and case["layout"] is Layout.CIRCULAR:
            assert flow.device_info(machine.memory.locate)["layout"] == Layout.DOUBLE
        count = 0
        for number in machine.step(flow):
            assert tile_pixels(machine, flow, number, kind) == expected[number]
            count += 1
        assert count == len(expected)


@given(cases())
def test_two_tiles_are_there_at_once(case: dict[str, Any]) -> None:
    """Double and circular buffers keep the tile before the last one."""
    shape, bpp, tile = case.pop("shape"), case.pop("bpp"), case.pop("tile")
    assume(case["layout"] is not Layout.SINGLE)
    kind = TYPES[bpp]
    image = np.random.default_rng(sum(shape)).integers(0, 251, shape).astype(kind)
    with bench() as machine:
        flow = reader(machine, image, tile, **case)
        try:
            flow.moves(machine.memory.locate)
        except CupvaError:
            assume(False)
        before = None
        for number in machine.step(flow):
            if before is not None:
                assert tile_pixels(machine, flow, number - 1, kind) == before
            before = tile_pixels(machine, flow, number, kind)


@given(cases())
def test_writing(case: dict[str, Any]) -> None:
    (height, width), bpp, tile = case["shape"], case["bpp"], case["tile"]
    kind = TYPES[bpp]
    roi = case["roi"] or (0, 0, width, height)
    x, y = min(max(0, roi[0]), width - 1), min(max(0, roi[1]), height - 1)
    roi = (x, y, min(roi[2], width - x), min(roi[3], height - y))
    with bench() as machine:
        image = np.full((height, width), 9, kind)
        target = machine.dram(image)
        flow = RasterDataFlow()
        flow.handler(HANDLER)
        flow.image(False, target, width, height, 0, bpp)
        flow.tile(*tile)
        flow.roi(*roi)
        flow.scan_order(case["scan"])
        size = tile[0] * tile[1] * bpp
        flow.tile_buffer(machine.variable(size))
        columns, rows = flow.grid
        contents = np.random.default_rng(7).integers(0, 251, (columns * rows, *tile[::-1]))
        contents = contents.astype(kind)
        machine.vmem[128 : 128 + size] = contents[0].view(np.uint8).ravel()
        for number in machine.step(flow):
            if number + 1 < len(contents):
                machine.vmem[128 : 128 + size] = contents[number + 1].view(np.uint8).ravel()
        expected = image.tolist()
        naive.raster_write(expected, roi, tile, contents.tolist(), case["scan"])
        assert machine.read(target, image).tolist() == expected


def test_example_18_scan_orders() -> None:
    orders = ["ABCD", "BADC", "CDAB", "DCBA", "ACBD", "BDAC", "CADB", "DBCA"]
    image = np.arange(16, dtype=np.uint8).reshape(4, 4)
    names = {(0, 0): "A", (2, 0): "B", (0, 2): "C", (2, 2): "D"}
    for scan, order in enumerate(orders):
        with bench() as machine:
            flow = reader(machine, image, (2, 2), Layout.SINGLE, scan=scan)
            tiles = flow.tiles(machine.memory.locate)
            assert "".join(names[t.x, t.y] for t in tiles) == order


def test_one_tile_as_wide_as_the_image() -> None:
    """Unlike TensorDataFlow it may leave the image on both sides."""
    image = np.arange(192 * 190, dtype=np.uint16).reshape(190, 192)
    with bench() as machine:
        flow = reader(machine, image, (192, 95), Layout.SINGLE, halo=(1, 2))
        info = flow.device_info(machine.memory.locate)
        assert info["line_pitch"] == 194
        for number in machine.step(flow):
            tile = tile_pixels(machine, flow, number, np.uint16)
            assert tile[2][1] == int(image[95 * number, 0])
            assert tile[0][0] == 0


def test_a_tall_tile() -> None:
    image = np.zeros((1520, 17), np.uint8)
    with bench() as machine:
        flow = reader(machine, image, (17, 760), Layout.SINGLE)
        assert len(flow.moves(machine.memory.locate)) == 2


def test_layouts_by_room() -> None:
    image = np.zeros((8, 8), np.uint8)
    for layout, halo, expected in (
        (Layout.SINGLE, (1, 1), Layout.SINGLE),
        (Layout.DOUBLE, (1, 1), Layout.DOUBLE),
        (Layout.CIRCULAR, (1, 1), Layout.CIRCULAR),
        (Layout.CIRCULAR, (0, 0), Layout.DOUBLE),
    ):
        with bench() as machine:
            flow = reader(machine, image, (4, 4), layout, halo=halo)
            assert flow.device_info(machine.memory.locate)["layout"] == expected


RULES: list[tuple[str, Any, str]] = [
    ("halo when writing", lambda f, b: (f.halo(1, 1),), "with a halo"),
    ("roi outside when writing", lambda f, b: (f.roi(1, 0, 8, 8),), "leaves the destination"),
    ("no tile", lambda f, b: (setattr(f, "tile_size", (0, 0)),), "tile"),
    ("no handler", lambda f, b: (setattr(f, "handler_symbol", None),), "handler"),
    ("small buffer", lambda f, b: (f.tile_buffer(b + 56),), "RDF_SINGLE"),
]


@pytest.mark.parametrize(("rule", "change", "text"), RULES, ids=[r[0] for r in RULES])
def test_rules(rule: str, change: Any, text: str) -> None:
    with bench() as machine:
        flow = RasterDataFlow()
        flow.handler(HANDLER)
        flow.image(False, machine.dram(np.zeros(64, np.uint8)), 8, 8, 0, 1)
        flow.tile(4, 4)
        buffer = machine.variable(64)
        flow.tile_buffer(buffer)
        change(flow, buffer)
        with pytest.raises(CupvaError, match=text):
            flow.moves(machine.memory.locate)


def test_what_the_rules_just_allow() -> None:
    """A region up to the last pixel, the longest line pitch, the widest halo, all scan bits."""
    with bench() as machine:
        flow = RasterDataFlow()
        flow.handler(HANDLER)
        flow.image(False, machine.dram(np.zeros(64, np.uint8)), 8, 8, 0, 1)
        flow.tile(4, 4)
        flow.tile_buffer(machine.variable(64))
        for region in ((4, 4, 4, 4), (0, 0, 8, 8), (7, 7, 1, 1)):
            flow.roi(*region)
            assert flow.moves(machine.memory.locate)
        for region in ((5, 4, 4, 4), (4, 5, 4, 4)):
            flow.roi(*region)
            with pytest.raises(CupvaError, match="leaves the destination"):
                flow.moves(machine.memory.locate)
        flow = RasterDataFlow()
        flow.image(True, 1, 65535, 4, 65535, 1)
        flow.halo(255, 255)
        flow.scan_order(7)


@pytest.mark.parametrize("halo", [(0, 0), (2, 1)])
def test_the_smallest_buffer_of_each_layout(halo: tuple[int, int]) -> None:
    """A byte less makes it the next smaller layout; less than a tile is none."""
    tile = 24, 5
    rooms = sizes(tile, halo, 2)
    with bench() as machine:
        image = np.zeros((40, 200), np.uint16)
        flow = reader(machine, image, tile, Layout.CIRCULAR, halo)
        largest = Layout.CIRCULAR if any(halo) else Layout.DOUBLE
        assert flow.layout(rooms[Layout.CIRCULAR]) is largest
        assert flow.layout(rooms[Layout.CIRCULAR] - 1) is Layout.DOUBLE
        assert flow.layout(rooms[Layout.DOUBLE]) is Layout.DOUBLE
        assert flow.layout(rooms[Layout.DOUBLE] - 1) is Layout.SINGLE
        assert flow.layout(rooms[Layout.SINGLE]) is Layout.SINGLE
        with pytest.raises(CupvaError, match="RDF_SINGLE"):
            flow.layout(rooms[Layout.SINGLE] - 1)


SETTERS: list[tuple[str, Any]] = [
    ("image without pixels", lambda f: f.image(True, 1, 0, 4, 0, 1)),
    ("pitch below width", lambda f: f.image(True, 1, 8, 4, 7, 1)),
    ("pitch too large", lambda f: f.image(True, 1, 8, 4, 65536, 1)),
    ("tile 0", lambda f: f.tile(0, 4)),
    ("halo negative", lambda f: f.halo(-1, 0)),
    ("halo 256", lambda f: f.halo(256, 0)),
    ("padding mode", lambda f: f.halo(1, 1, 7)),
    ("scan order", lambda f: f.scan_order(8)),
]


@pytest.mark.parametrize(("what", "call"), SETTERS, ids=[s[0] for s in SETTERS])
def test_setters_refuse(what: str, call: Any) -> None:
    with pytest.raises(CupvaError):
        call(RasterDataFlow())


def test_mixed_ways_are_refused() -> None:
    flow = RasterDataFlow()
    flow.image(True, 1, 8, 8, 0, 1)
    with pytest.raises(CupvaError, match="both called"):
        flow.image(False, 1, 8, 8, 0, 1)
