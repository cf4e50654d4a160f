"""What DPU programs print: the text lies in the DPU's MRAM until the host reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import DpuError, Status, error
from .memory import MRAM_SIZE, SIDE_OFFSET, SIDE_SIZE, WRAM_OFFSET
from .printed import LogFormatError, text
from .program import Program
from .symbols import MRAM, Symbol
from .workers.protocol import Side

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .vendor import Code

HEADER = "=== DPU#0x{:x} ===\n"
"""DPU_LOG_FORMAT_HEADER."""


def read(
    name: str, program: Program | None, memory: Callable[[int, int], NDArray[np.uint8]]
) -> str:
    """The output of a DPU's last launch, without the header line. Reading does not consume it.

    ``memory`` gives bytes of the DPU's slot. Raises DpuError: DPU_ERR_LOG_CONTEXT_MISSING when
    there is no program or it never prints, DPU_ERR_LOG_BUFFER_TOO_SMALL when the output went round
    the buffer.
    """
    if program is None:
        raise error(
            Status.DPU_ERR_LOG_CONTEXT_MISSING,
            f"DPU {name} has no program, so it has no log; call dpu_load",
        )
    buffer = program.log_buffer
    if buffer is None:
        raise error(
            Status.DPU_ERR_LOG_CONTEXT_MISSING,
            f"{program.path!r} has no printf, so DPU {name} has no log",
        )
    if program.code is not None:
        return _read_messages(name, program.code, buffer, memory)
    side = Side.read(memory(SIDE_OFFSET, SIDE_SIZE))
    if side.log_wrapped:
        raise _too_small(name, buffer)
    start = buffer.address & ~MRAM
    return memory(start, min(side.log_bytes, buffer.size)).tobytes().decode(errors="replace")


def _too_small(name: str, buffer: Symbol) -> DpuError:
    return error(
        Status.DPU_ERR_LOG_BUFFER_TOO_SMALL,
        f"DPU {name} printed more than its buffer of {buffer.size} bytes; "
        "STDOUT_BUFFER_INIT(size) in the DPU program makes a larger one",
    )


def _read_messages(
    name: str, code: Code, buffer: Symbol, memory: Callable[[int, int], NDArray[np.uint8]]
) -> str:
    """Of a program of the vendor's compiler, which has the state of its buffer in WRAM."""
    if code.stdout_state is None:
        raise error(
            Status.DPU_ERR_LOG_CONTEXT_MISSING,
            f"the program of DPU {name} does not say how much it has printed",
        )
    state = memory(WRAM_OFFSET + code.stdout_state, 8).tobytes()
    written, wrapped = (int.from_bytes(state[at : at + 4], "little") for at in (0, 4))
    start = buffer.address & ~MRAM
    room = buffer.size or MRAM_SIZE - start
    if wrapped:
        raise _too_small(name, buffer)
    if written > room:
        raise error(
            Status.DPU_ERR_LOG_FORMAT,
            f"DPU {name} says that it printed {written} bytes; its buffer has {room}",
        )
    try:
        return text(memory(start, written).tobytes())
    except LogFormatError as cause:
        raise error(Status.DPU_ERR_LOG_FORMAT, f"the log of DPU {name}: {cause}") from None
