"""What a DPU program can write over where its worker answers: frames and side pages."""

from __future__ import annotations

import functools
from random import Random

import numpy as np

from cudla_sim.constants.dpu_protocol import FRAME_STRIDE, PROTOCOL_VERSION, SIDE_SIZE, State
from cudla_sim.upmem.workers.frame import Frame
from cudla_sim.upmem.workers.outcome import recorded
from cudla_sim.upmem.workers.protocol import Times

from ..mutate import INTERESTING, mutated
from .programs import built

TEXT, DATA = 0x2000_0000, 0x07E0_0000
PLACES = (*INTERESTING, TEXT, TEXT + 64, DATA, DATA + 8, 0x0800_0000, 0x1000_0100)


@functools.cache
def _image() -> bytes:
    return built("dpu")


def dpu_answers(random: Random) -> None:
    """The host makes sentences and times of any side page, and goes by its own list of DPUs."""
    words = [random.choice((0, 0, 1, 2, 3, random.randrange(20), random.choice(PLACES)))
             for _ in range(SIDE_SIZE // 4)]  # fmt: skip
    page = b"".join((word & 0xFFFF_FFFF).to_bytes(4, "little") for word in words)
    head = (PROTOCOL_VERSION, int(random.choice((State.FAULT, State.WARNED, State.DONE))))
    page = mutated(b"".join(word.to_bytes(4, "little") for word in head) + page[8:], random)
    page = page[:SIDE_SIZE].ljust(SIDE_SIZE, b"\0")
    outcome = recorded(3, page, _image(), set())
    assert outcome.number == 3
    assert len(outcome.text) < 100_000
    Times.read(page)
    data = np.zeros(FRAME_STRIDE, np.uint8)
    frame = Frame(0, data)
    frame.fill([5, 9, 2], 0, False)
    data[:] = np.frombuffer(random.randbytes(FRAME_STRIDE), np.uint8)
    assert frame.slots == [5, 9, 2]
    assert not frame.cancelled
