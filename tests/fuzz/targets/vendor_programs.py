"""Programs in the DPU's own instructions: damaged files, and words as they come."""

from __future__ import annotations

import functools
from random import Random

from cudla_sim.core.config import from_environment
from cudla_sim.core.process import Process
from cudla_sim.upmem import launch, load
from cudla_sim.upmem.errors import DpuError, Status
from cudla_sim.upmem.isa.fields import PC16
from cudla_sim.upmem.isa.table import FORMS
from cudla_sim.upmem.machine import DpuSet, Machine
from cudla_sim.upmem.program import read
from tests.upmem.vendor.elves import program
from tests.upmem.vendor.test_programs import BARRIER

from ..mutate import mutated

_LIMIT_S = "0.2"
"""Many of these programs have no end."""


@functools.cache
def _dpus() -> DpuSet:
    process = Process(from_environment({"CUDLA_SIM_WORKER_TIMEOUT": _LIMIT_S}))
    return Machine(process).allocate(2)


def _word(random: Random, length: int) -> int:
    if random.random() < 0.05:
        return random.getrandbits(random.choice((48, 64)))
    form = random.choice(FORMS)
    word = form.value | random.getrandbits(48) & ~form.mask
    if form.pc is not None and random.random() < 0.95:
        word = word & ~PC16.mask | PC16.write(random.randrange(length + 1))
    return word


def _image(random: Random) -> bytes:
    if random.random() < 0.4:
        return mutated(program(BARRIER, 16, waits=(2, 8), mram=bytes(64)).image(), random)
    length = random.choice((1, 4, 40, 400))
    code = [_word(random, length) for _ in range(length)]
    return program(
        code, random.randint(1, 24), waits=random.choice((None, (0, length - 1)))
    ).image()


def vendor_program(random: Random) -> None:
    """It is refused, ends, or stops in fault; the worker lives, but for what has no end."""
    dpus = _dpus()
    dpus.machine.timing = random.choice(("off", "model"))
    text = "ended"
    text = "ended"
    try:
        load.load(dpus, read(_image(random), "program"))
        launch.launch(dpus, False)
        if random.random() < 0.3:
            launch.launch(dpus, False)
    except DpuError as refused:
        Status(refused.status)
        text = refused.explanation
    assert text
    assert "was killed" not in text, text
