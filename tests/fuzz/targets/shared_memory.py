"""Workers that write over what they share with the host, while the host goes on submitting."""

from __future__ import annotations

import functools
from pathlib import Path
from random import Random

import numpy as np

from cudla_sim.constants.pva_protocol import CONTROL_SIZE, GATE_AT, LISTS_AT, REQUEST_AT
from cudla_sim.cupva.dma import pack
from cudla_sim.cupva.toolchain.build import compile_image
from cudla_sim.cupva.workers.worker import FlowRequest, WorkerError
from tests.cupva.device_side.bench import Bench

from .common import ROOT
from .models import explained

KERNELS = Path(__file__).parent.parent / "kernels"
REGIONS = ((0, 64), (0, 4096), (GATE_AT, 64), (REQUEST_AT, 256), (REQUEST_AT, 4096),
           (LISTS_AT, 4096), (0, min(CONTROL_SIZE, 1 << 20) - 8))  # fmt: skip
STATUSES = ("done", "fault", "timeout", "died", "unfinished", "dma_timeout")


@functools.cache
def _benches() -> tuple[Bench, Bench]:
    """The hostile program, and one beside it that the host goes on using."""
    hostile = compile_image([KERNELS / "scribble.c"], "-pthread")
    kernels = ROOT / "tests" / "cupva" / "device_side" / "kernels"
    return Bench(hostile), Bench(compile_image([kernels / "scribble.c"]))


def shared_memory(random: Random) -> None:
    """Some launches of a hostile kernel; the host answers each with a status, and its other
    workers compute as before."""
    hostile, other = _benches()
    for _ in range(random.choice((1, 2, 3))):
        first, span = random.choice(REGIONS)
        flows = []
        if random.random() < 0.3:
            flows = [FlowRequest(0, -1, pack([])) for _ in range(random.choice((1, 2)))]
        try:
            result = hostile.launch(
                flows,
                deadline_s=0.2,
                seed=random.randrange(1 << 31),
                amount=random.choice((1, 5, 100, 2000)),
                first=first,
                span=span,
                stays=int(random.random() < 0.2),
            )
        except WorkerError as error:
            explained(error)
            continue
        assert result.status in STATUSES, result.status
        assert len(result.text) < 10_000
    if random.random() < 0.5:
        hostile.worker._drop()
    if random.random() < 0.1:
        result = other.launch(seed=1, amount=0, span=64)
        assert (result.status, result.value) == ("done", 5), result
        assert not np.any(other.dram[:4096])
