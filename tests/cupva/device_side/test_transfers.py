"""Descriptors worked off without a VPU move the same bytes as the worker's engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.cupva.dma import PAD_BPE, PAD_CONST, VMEM, Move, Padding, Side, pack
from cudla_sim.cupva.workers.transfers import run_transfers
from cudla_sim.cupva.workers.worker import LaunchRequest

from .bench import Bench, dram

SIDES = st.integers(0, 2)


@st.composite
def moves(draw: st.DrawFn, bench: Bench) -> Move:
    bpp = draw(st.sampled_from([1, 2, 4]))
    pad = Padding(*(draw(SIDES) for _ in range(4)), draw(st.sampled_from([PAD_CONST, PAD_BPE])),
                  draw(st.integers(0, 255)))  # fmt: skip
    width, height = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    tiles = draw(st.integers(1, 3))
    source = dram(256, 16, ((tiles, draw(st.integers(-3, 3))), (1, 0)))
    size = (width + pad.left + pad.right, height + pad.top + pad.bottom)
    target = bench.side("bytes", size[0], ((tiles, draw(st.integers(0, 5))),))
    if draw(st.booleans()):
        target.ring = (0, size[0] * size[1] + draw(st.integers(0, 9)))
    target.limits = (0, 1 << 20)
    return Move(*size, bpp, source, target, pad)


@given(st.data())
def test_same_as_the_worker(flows: Bench, data: st.DataObject) -> None:
    descriptors = pack([data.draw(moves(flows))])
    flows.dram[:1024] = np.random.default_rng(4).integers(0, 256, 1024)
    request = LaunchRequest(flows=[flows.static("", *[])])
    request.flows[0].descriptors = descriptors
    result = flows.worker.launch(request, 10, kernel=False, snapshot=True)
    vmem = np.zeros(0xC0000, np.uint8)
    run_transfers(descriptors, [flows.dram, vmem, flows.l2])
    symbol = flows.symbol("bytes")
    mine = vmem[symbol.offset : symbol.offset + symbol.size]
    assert flows.array(result, "bytes", np.uint8).tolist() == mine.tolist()


def test_no_vmem() -> None:
    side = Side(VMEM, 0, (0, 64))
    with pytest.raises(ValueError, match="without an executable"):
        run_transfers(pack([Move(4, 1, 1, dram(0), side)]), [np.zeros(9, np.uint8), None, None])


def test_outside_the_memory() -> None:
    memories = [np.zeros(9, np.uint8), None, None]
    with pytest.raises(ValueError, match="bytes 8 to 12 of a memory of 9"):
        run_transfers(pack([Move(4, 1, 1, dram(8), dram(0))]), memories)
