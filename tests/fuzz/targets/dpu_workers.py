"""DPU workers that write over what they share with the host, and answer what they like."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from random import Random

import numpy as np

from cudla_sim.constants.dpu_protocol import FRAME_STRIDE, MAX_FRAMES, SLOT_SIDE, State, frame
from cudla_sim.upmem.workers.pool import WorkerError
from tests.upmem.dpu_side.bench import STRIDE, Bench, Program, dpu_cc

from .common import ROOT
from .models import explained

KERNELS = Path(__file__).parent.parent / "kernels"
DPUS = 3
FRAME = (MAX_FRAMES - 1) * FRAME_STRIDE
"""Where the frame of a launch lies when no other launch runs."""
STATES = FRAME + frame.status.offset
REGIONS = ((FRAME, 32), (FRAME, 4096), (STATES, DPUS), (STATES, 512), (FRAME, FRAME_STRIDE - 8),
           (0, 16 * FRAME_STRIDE))  # fmt: skip
NO_STATE = 0xFFFF_FFFF


@functools.cache
def _program(source: Path) -> Program:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / source.stem
        done = dpu_cc("-O1", "-o", target, source)
        assert done.returncode == 0, done.stderr
        return Program(target)


@functools.cache
def hostile(limit_s: float = 3.0) -> Bench:
    """A bench with the hostile program."""
    bench = Bench(DPUS, limit_s=limit_s)
    bench.load(_program(KERNELS / "scribble_dpu.c"))
    places = {"frames_at": "frames", "socket_at": "host_socket", "file_at": "machine_file"}
    for slot in range(DPUS):
        for variable, static in places.items():
            bench.var(variable, slot=slot)[0] = bench.program.symbols[static][0]
        bench.var("side_at", np.uint64, slot)[0] = slot * STRIDE + SLOT_SIDE
    return bench


@functools.cache
def _other() -> Bench:
    bench = Bench(2)
    bench.load(_program(ROOT / "tests" / "faults" / "value_dpu.c"))
    return bench


def dpu_workers(random: Random) -> None:
    """Some launches; each tells an outcome for no DPU but its own, and the host's other workers
    compute as before."""
    bench = hostile()
    for _ in range(random.choice((1, 2, 3))):
        first, span = random.choice(REGIONS)
        state = random.choice((NO_STATE, NO_STATE, *State, 255))
        for slot in range(DPUS):
            here = {
                "seed": random.randrange(1 << 31),
                "amount": random.choice((0, 1, 5, 100, 2000)),
                "first": first,
                "span": span,
                "answers": random.choice((0, 0, 0, 1, 3, 20)),
                "ending": random.randrange(4),
                "frame_state": int(state),
            }
            for name, value in here.items():
                bench.var(name, slot=slot)[0] = value
        slots = random.sample(range(DPUS), random.randint(1, DPUS))
        try:
            ended = bench.launch(slots=slots, timed=random.random() < 0.3)
        except WorkerError as error:
            explained(error)
            continue
        numbers = [outcome.number for outcome in ended.faulted]
        assert len(set(numbers)) == len(numbers) <= len(slots)
        assert set(numbers) <= set(slots)
        assert all(len(outcome.text) < 100_000 for outcome in ended.faulted)
    if random.random() < 0.1:
        assert not _other().launch().faulted
