"""The gate by which launches are handed to VPU workers (``shim/vpu_run/gate.h``)."""

from __future__ import annotations

import mmap
from enum import IntEnum

from .compiled import ffi, lib


class Outcome(IntEnum):
    """What became of a launch that somebody asked for. After the first two the caller, and nobody
    else, works off its result."""

    ANSWERED = lib.SIM_PVA_ANSWERED
    GONE = lib.SIM_PVA_GONE
    LATE = lib.SIM_PVA_LATE
    OTHERS = lib.SIM_PVA_OTHERS
    """Somebody else waits for it, or has worked it off."""


_OUTCOMES = {int(outcome): outcome for outcome in Outcome}

post_at = lib.sim_pva_post
wait_at = lib.sim_pva_wait
"""What ``PvaGate.post`` and ``wait`` call, for those to whom a function of Python more counts: with
``PvaGate.at``, socket, and microseconds; an Outcome, and 256 times what the parent said."""


class PvaGate:
    """The gate at ``offset`` of the control file. The mapping lives as long as the gate.

    All methods may be called from several threads; they wait without the interpreter lock.
    """

    def __init__(self, control: mmap.mmap, offset: int) -> None:
        self._control = ffi.from_buffer(control)
        self.at = self._gate = self._control + offset
        """Where it lies, as the compiled functions take it."""

    def reset(self) -> None:
        """Before the worker starts."""
        lib.sim_pva_gate_reset(self._gate)

    def post(self, socket: int, *, claimed: bool = False) -> bool:
        """Begins the launch that the control file describes; False: the worker is gone.
        ``claimed``: only the caller waits for it, with ``keep``."""
        return bool(lib.sim_pva_post(self._gate, socket, claimed))

    def wait(
        self, socket: int, timeout_us: int, *, keep: bool = False, again: bool = False
    ) -> tuple[Outcome, int]:
        """Waits for its end, below 0 for ever, and what the worker's parent said (0: nothing).
        ``keep``: the launch stays claimed when it is late; then ``again`` goes on waiting."""
        how = lib.SIM_PVA_AGAIN if again else keep
        ended = lib.sim_pva_wait(self._gate, socket, timeout_us, how)
        return _OUTCOMES[ended & 0xFF], ended >> 8

    def take(self, *, gone: bool = False) -> Outcome:
        """Claims a launch that has ended, or whose worker is ``gone``."""
        return Outcome(lib.sim_pva_take(self._gate, gone))
