"""All tiles at once are what a model says of each one, with the same refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.cupva.dataflow.base import Handler, Location, Locator, Tile
from cudla_sim.cupva.dataflow.raster import RasterDataFlow
from cudla_sim.cupva.dataflow.tensor import TensorDataFlow
from cudla_sim.cupva.dma import DRAM, VMEM, Move, pack
from cudla_sim.cupva.errors import CupvaError

from . import one_by_one

Answer = TypeVar("Answer")
Flow = TypeVar("Flow", RasterDataFlow, TensorDataFlow)
IMAGE, BUFFER = 1 << 20, 1 << 40


def locator(image: int, buffer: int) -> Locator:
    """Of an image and a tile buffer of so many bytes."""

    def locate(address: int) -> Location:
        if address >= BUFFER:
            return Location(VMEM, 128 + address - BUFFER, (128, 128 + buffer), "variable")
        return Location(DRAM, address, (IMAGE, IMAGE + image), "buffer")

    return locate


def outcome(ask: Callable[[Locator], Answer], locate: Locator) -> Answer | str:
    try:
        return ask(locate)
    except CupvaError as refusal:
        return str(refusal)


def agree(
    flow: Flow,
    locate: Locator,
    moves: Callable[[Flow, Locator], list[Move]],
    tiles: Callable[[Flow, Locator], list[Tile]],
) -> None:
    flow.handler(Handler("handler", 64))
    expected = outcome(lambda at: pack(moves(flow, at)).tobytes(), locate)
    assert outcome(lambda at: flow.descriptors(at).tobytes(), locate) == expected
    assert outcome(lambda at: pack(flow.moves(at)).tobytes(), locate) == expected
    assert outcome(flow.tiles, locate) == outcome(lambda at: tiles(flow, at), locate)


@st.composite
def rasters(draw: st.DrawFn) -> tuple[RasterDataFlow, int, int]:
    flow = RasterDataFlow()
    width, height, pad = (
        draw(st.integers(1, 300)),
        draw(st.integers(1, 40)),
        draw(st.integers(0, 9)),
    )
    bpp, reads = draw(st.sampled_from([1, 2, 4])), draw(st.booleans())
    flow.image(reads, IMAGE, width, height, width + pad, bpp)
    flow.tile(draw(st.integers(1, 300)), draw(st.integers(1, 20)))
    if draw(st.booleans()):
        flow.halo(draw(st.integers(0, 40)), draw(st.integers(0, 8)), draw(st.integers(1, 2)), 7)
    if draw(st.booleans()):
        corner = draw(st.integers(-300, width)), draw(st.integers(-30, height))
        flow.roi(*corner, draw(st.integers(0, 400)), draw(st.integers(0, 50)))
    flow.scan_order(draw(st.integers(0, 7)))
    flow.tile_buffer(BUFFER)
    tile = flow.vmem_size[0] * flow.vmem_size[1] * bpp
    room = tile * draw(st.integers(1, 3)) + draw(st.integers(-1, 200))
    needed = ((width + pad) * (height - 1) + width) * bpp
    return flow, needed - draw(st.sampled_from([0, 0, 0, 1, 500])), room


@st.composite
def tensors(draw: st.DrawFn) -> tuple[TensorDataFlow, int, int]:
    flow = TensorDataFlow()
    width, height, depth = (draw(st.integers(1, n)) for n in (300, 20, 9))
    bpp, reads = draw(st.sampled_from([1, 2, 4])), draw(st.booleans())
    row = width + draw(st.integers(0, 5))
    plane = row * height + draw(st.integers(0, 9))
    flow.tensor(reads, IMAGE, (width, height, depth), (row, plane), bpp)
    tile = (draw(st.integers(1, width)), draw(st.integers(1, height)), draw(st.integers(0, depth)))
    flow.tile(*tile)
    if draw(st.booleans()):
        flow.halo(draw(st.integers(0, 30)), draw(st.integers(0, 5)), draw(st.integers(1, 2)), 3)
    if draw(st.booleans()):
        corner = draw(st.integers(-300, width)), draw(st.integers(-20, height))
        flow.roi(*corner, draw(st.integers(0, 300)), draw(st.integers(0, 20)))
    flow.tile_buffer(BUFFER)
    size = flow.plane_size[0] * flow.plane_size[1] * (tile[2] or depth) * bpp
    room = size * draw(st.integers(1, 2)) + draw(st.integers(-1, 70))
    needed = (plane * (depth - 1) + row * (height - 1) + width) * bpp
    return flow, needed - draw(st.sampled_from([0, 0, 0, 1, 500])), room


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(case=rasters())
def test_rasters(case: tuple[RasterDataFlow, int, int]) -> None:
    flow, image, buffer = case
    agree(flow, locator(image, buffer), one_by_one.raster_moves, one_by_one.raster_tiles)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(case=tensors())
def test_tensors(case: tuple[TensorDataFlow, int, int]) -> None:
    flow, image, buffer = case
    agree(flow, locator(image, buffer), one_by_one.tensor_moves, one_by_one.tensor_tiles)


def test_a_frame_in_scan_order() -> None:
    """1080p in tiles of 64 x 32: every tile once, its bytes where the picture has them."""
    flow = RasterDataFlow()
    flow.handler(Handler("handler", 64))
    flow.image(True, IMAGE, 1920, 1080, 1920, 1)
    flow.tile(64, 32)
    flow.tile_buffer(BUFFER)
    packed = flow.descriptors(locator(1920 * 1080, 64 * 32))
    places = [y * 1920 + x for y in range(0, 1080, 32) for x in range(0, 1920, 64)]
    assert (packed["src"]["at"] - IMAGE).tolist() == places
    last = [1080 % 32 and 32 - 1080 % 32 if number >= 33 * 30 else 0 for number in range(34 * 30)]
    assert packed["bottom"].tolist() == last
    assert set(packed["tiles"].tolist()) == {1}
