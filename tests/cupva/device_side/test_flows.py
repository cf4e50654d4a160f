"""Raster, tensor, sequence and gather/scatter dataflows as kernels use them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from cudla_sim.cupva.dataflow.raster import RasterDataFlow
from cudla_sim.cupva.dma import Move, Padding
from cudla_sim.cupva.workers.protocol import Cause
from cudla_sim.cupva.workers.worker import FlowRequest

from .bench import Bench, dram
from .bench import modes as names

M = names("flows.h")
WIDTH, HEIGHT = 50, 13
SOURCE, TARGET = 1024, 8192
TILES = 4 * 4


@pytest.fixture
def picture(flows: Bench) -> np.ndarray:
    pixels = np.random.default_rng(1).integers(0, 1000, (HEIGHT, WIDTH)).astype(np.uint16)
    flows.dram[SOURCE : SOURCE + pixels.nbytes] = pixels.view(np.uint8).ravel()
    flows.dram[TARGET : TARGET + pixels.nbytes] = 0
    return pixels


def reading(flow: RasterDataFlow) -> None:
    flow.image(True, SOURCE, WIDTH, HEIGHT, WIDTH, 2)
    flow.tile(16, 4)
    flow.halo(1, 1)


def writing(flow: RasterDataFlow) -> None:
    flow.image(False, TARGET, WIDTH, HEIGHT, WIDTH, 2)
    flow.tile(16, 4)


def copied(bench: Bench) -> np.ndarray:
    data = bench.dram[TARGET : TARGET + 2 * WIDTH * HEIGHT].view(np.uint16)
    return data.reshape(HEIGHT, WIDTH)


def checksums(pixels: np.ndarray) -> list[int]:
    """What the kernel computes over each tile with its halo, constant 0 outside."""
    padded = np.pad(pixels.astype(np.int64), 32)
    weights = np.arange(6)[:, None] * 32 + np.arange(18)[None, :] + 1
    return [
        int((padded[y + 31 : y + 37, x + 31 : x + 49] * weights % 9973).sum())
        for y in range(0, HEIGHT, 4)
        for x in range(0, WIDTH, 16)
    ]


@pytest.mark.parametrize(
    ("mode", "buffer", "offsets", "pitch"),
    [
        ("SINGLE", "single", [0] * TILES, 18),
        ("DOUBLE", "pair", [0, 108] * 8, 18),
        ("CIRCULAR", "ring", [n * 18 % 224 for n in range(TILES)], 36),
    ],
)
def test_explicit_handlers(
    flows: Bench, picture: np.ndarray, mode: str, buffer: str, offsets: list[int], pitch: int
) -> None:
    """Trigger ahead, sync, offset, line pitch; every tile with its halo; the picture copied."""
    source = flows.raster("source", buffer, reading)
    target = flows.raster("target", "outgoing", writing)
    result = flows.launch([source, target], mode=M[mode], tiles=TILES)
    assert (result.status, result.text) == ("done", "")
    seen = flows.array(result, "seen")
    assert seen[:TILES].tolist() == offsets
    assert seen[64 : 64 + TILES].tolist() == checksums(picture)
    assert (copied(flows) == picture).all()
    ring = 224 if mode == "CIRCULAR" else 0
    assert seen[200:204].tolist() == [pitch, 18 if ring else 0, ring, 1]


def test_unified_handlers(flows: Bench, picture: np.ndarray) -> None:
    """Open, Acquire, Release, Close; the halves of a double buffer take turns."""
    source = flows.raster("unified_source", "pair", reading)
    target = flows.raster("unified_target", "outgoing", writing)
    result = flows.launch([source, target], mode=M["UNIFIED"], tiles=TILES)
    assert (result.status, result.text) == ("done", "")
    assert (copied(flows) == picture).all()
    half = source.info["half"] // 2
    assert flows.array(result, "seen")[:4].tolist() == [0, half, 0, half]


def test_acquire_twice(flows: Bench, picture: np.ndarray) -> None:
    source = flows.raster("unified_source", "pair", reading)
    result = flows.launch([source], mode=M["ACQUIRE_TWICE"])
    assert (result.status, result.cause) == ("fault", Cause.ORDER)
    assert "Acquire twice without cupvaRasterDataFlowRelease; in CUPVA_VPU_MAIN" in result.text


def tensor(bench: Bench) -> tuple[FlowRequest, np.ndarray]:
    """8x4x5 in tiles of 4x4x3 without halo: two places, two transfers each, of 3 and 2 planes."""
    pixels = np.random.default_rng(2).integers(0, 256, (5, 4, 8)).astype(np.uint8)
    bench.dram[:160] = pixels.ravel()
    moves = []
    for x in (0, 4):
        for plane, planes in ((0, 3), (3, 2)):
            outside = dram(plane * 32 + x, 8, ((planes, 32),))
            inside = bench.side("volume", 4, ((planes, 16),))
            moves.append(Move(4, 4, 1, outside, inside, per_trigger=planes))
    flow = bench.static("tensor", *moves)
    info = {"layout": 1, "line_pitch": 4, "planes": 3, "niter_hw": 2, "niter_c": 2,
            "plane_size": 16, "remainder": 2, "tiles": 4}  # fmt: skip
    return FlowRequest(flow.kind, flow.handler_offset, flow.descriptors, info), pixels


def test_tensor_handlers(flows: Bench) -> None:
    flow, pixels = tensor(flows)
    result = flows.launch([flow], mode=M["TENSOR"])
    assert (result.status, result.text) == ("done", "")
    expected = [
        value
        for x in (slice(0, 4), slice(4, 8))
        for planes in (slice(0, 3), slice(3, 5))
        for value in (planes.stop - planes.start, int(pixels[planes, :, x].sum()))
    ]
    seen = flows.array(result, "seen")
    assert seen[:8].tolist() == expected
    assert seen[200:204].tolist() == [4, 1, 0, 2]
    assert flows.executable.symbol("_Mtensor").size == 20


def sequence(bench: Bench) -> tuple[list[FlowRequest], bytes]:
    bench.dram[:16] = 11
    bench.dram[500:516] = 22
    move = Move(16, 1, 1, dram(0), bench.side("bytes"))
    return [bench.static("sequence", move)], struct.pack("<Qq", 400, 100)


def test_sequence_runs_again_and_changes_when_flushed(flows: Bench) -> None:
    requests, pointer = sequence(flows)
    result = flows.launch(requests, mode=M["SEQUENCE"], elsewhere=pointer)
    assert (result.status, result.text) == ("done", "")
    # twice the same; changes wait for the flush; then 8 bytes only
    assert flows.array(result, "seen")[:6].tolist() == [11, 11, 0, 22, 22, 0]
    again = flows.launch(requests, mode=M["SEQUENCE"], elsewhere=pointer)
    assert flows.array(again, "seen")[:2].tolist() == [11, 11], "changes last for one launch"


def test_sequence_must_be_closed(flows: Bench) -> None:
    requests, pointer = sequence(flows)
    result = flows.launch(requests, mode=M["LEAVE_SEQUENCE_OPEN"], elsewhere=pointer)
    assert result.status == "unfinished"
    assert "was not closed" in result.text


def test_gather_and_scatter(flows: Bench) -> None:
    """Tiles at places of the kernel's choice; outside the picture they are padded, or skipped."""
    picture = np.arange(128, dtype=np.uint8).reshape(8, 16)
    flows.dram[:128] = picture.ravel()
    flows.dram[TARGET : TARGET + 128] = 255
    into = Move(4, 2, 1, dram(0, 16), flows.side("bytes", 4), Padding(value=9))
    away = Move(4, 2, 1, flows.side("bytes", 4), dram(TARGET, 16))
    info = {"planes": 3, "line_pitch": 4, "advance": 16, "ring": 8, "layout": 1}
    requests = [
        FlowRequest(f.kind, f.handler_offset, f.descriptors, info)
        for f in (flows.static("gather", into), flows.static("scatter", away))
    ]
    result = flows.launch(requests, mode=M["GATHER"])
    assert (result.status, result.text) == ("done", "")
    assert flows.array(result, "seen")[:2].tolist() == [1, 0], "open only once"
    found = flows.array(result, "bytes", np.uint8)
    padded = np.pad(picture, 4, constant_values=9)
    for start, (x, y, w, h) in {0: (2, 1, 4, 2), 64: (-1, -1, 4, 3), 128: (14, 7, 4, 2)}.items():
        tile = padded[y + 4 : y + 4 + h, x + 4 : x + 4 + w]
        assert (found[start : start + w * h].reshape(h, w) == tile).all()
    target = flows.dram[TARGET : TARGET + 128].reshape(8, 16)
    expected = np.full((8, 16), 255, np.uint8)
    expected[0:2, 0:4] = found[0:8].reshape(2, 4)
    expected[4:6, 0:3] = found[64:72].reshape(2, 4)[:, 1:]
    assert (target == expected).all()
