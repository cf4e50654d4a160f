"""Loads and launches programs on DPUs of this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from cudla_sim.core.process import Process
from cudla_sim.upmem import launch, load
from cudla_sim.upmem.machine import DpuSet, Machine
from cudla_sim.upmem.program import read
from cudla_sim.upmem.timing.ledger import Launch

from .elves import Elf


class Running:
    """A set of DPUs."""

    def __init__(self, dpus: DpuSet, timed: bool) -> None:
        self.dpus = dpus
        self.dpus.machine.timing = "model" if timed else "off"

    def load(self, elf: Elf | bytes) -> Running:
        image = elf if isinstance(elf, bytes) else elf.image()
        load.load(self.dpus, read(image, "program"))
        return self

    def launch(self) -> Running:
        launch.launch(self.dpus, False)
        return self

    def words(self, dpu: int = 0) -> NDArray[np.uint32]:
        """The variable ``shared``."""
        return self.dpus.dpus[dpu].symbols["shared"].view(np.uint32)

    @property
    def times(self) -> Launch:
        return self.dpus.machine.hardware.launches[-1]


@contextmanager
def running(process: Process, dpus: int = 1, timed: bool = False) -> Iterator[Running]:
    machine = Machine(process)
    made = machine.allocate(dpus)
    try:
        yield Running(made, timed)
    finally:
        machine.free(made)
        machine.close()
