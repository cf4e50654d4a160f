"""What DPU programs print: the text lies in the DPU's MRAM until the host reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import Status, error
from .memory import SIDE_OFFSET, SIDE_SIZE
from .program import Program
from .symbols import MRAM
from .workers.protocol import Side

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEADER = "=== DPU#0x{:x} ===\n"
"""DPU_LOG_FORMAT_HEADER."""


def read(
    name: str, program: Program | None, memory: Callable[[int, int], NDArray[np.uint8]]
) -> str:
    """The output of a DPU's last launch, without the header line. Reading does not consume it.

    ``memory`` gives bytes of the DPU's slot. Raises DpuError: DPU_ERR_NO_PROGRAM_LOADED,
    DPU_ERR_LOG_CONTEXT_MISSING when the program never prints, DPU_ERR_LOG_BUFFER_TOO_SMALL when the
    output went round the buffer.
    """
    if program is None:
        raise error(Status.DPU_ERR_NO_PROGRAM_LOADED, f"DPU {name} has no program")
    buffer = program.log_buffer
    if buffer is None:
        raise error(
            Status.DPU_ERR_LOG_CONTEXT_MISSING,
            f"{program.path!r} has no printf, so DPU {name} has no log",
        )
    side = Side.read(memory(SIDE_OFFSET, SIDE_SIZE))
    if side.log_wrapped:
        raise error(
            Status.DPU_ERR_LOG_BUFFER_TOO_SMALL,
            f"DPU {name} printed more than its buffer of {buffer.size} bytes; "
            "STDOUT_BUFFER_INIT(size) in the DPU program makes a larger one",
        )
    start = buffer.address & ~MRAM
    text = memory(start, min(side.log_bytes, buffer.size)).tobytes()
    return text.decode(errors="replace")
