"""One DPU of a machine of its own, with a program and its inputs, for commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ...core import process, untrusted
from ..errors import Status, error
from ..load import load
from ..machine import Machine
from ..memory import MRAM_SIZE
from ..program import read
from ..rank import Dpu
from .state import State


@contextmanager
def loaded(file: Path, inputs: Mapping[str, Path]) -> Iterator[State]:
    """*inputs*: symbol -> file with its first bytes.

    Raises OSError, ValueError; DpuError: no program of DPU instructions, no such symbol, more
    bytes than it has.
    """
    machine = Machine(process.current())
    made = machine.allocate(1)
    try:
        load(made, read(untrusted.read_bytes(file), str(file)))
        dpu = made.dpus[0]
        state = State(dpu)
        for name, source in inputs.items():
            _put(dpu, name, source)
        yield state
    finally:
        machine.free(made)


def _put(dpu: Dpu, name: str, source: Path) -> None:
    room = dpu.symbols[name]
    data = untrusted.read_bytes(source, MRAM_SIZE)
    if len(data) > len(room):
        raise error(
            Status.DPU_ERR_INVALID_SYMBOL_ACCESS,
            f"{len(data)} bytes for {name}, which has {len(room)}",
        )
    room[: len(data)] = np.frombuffer(data, np.uint8)
