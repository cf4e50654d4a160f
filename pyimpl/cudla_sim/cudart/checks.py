"""The checks on CUDA programs, each with its own switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..workers.switches import Switches

if TYPE_CHECKING:
    from typing_extensions import Self

_USUAL = {"streams": "warn", "memory": "fault", "race": "warn"}


@dataclass(frozen=True)
class Checks(Switches):
    """Each is ``off``, ``warn`` or ``fault``, which is as ``warn`` where there is nothing to end.
    A name alone sets its check to what is usual for it. The order is that of the bits that kernels
    get (``include/cuda/kernels/checks.hpp``)."""

    streams: str = "off"
    """Work in a non-blocking stream behind work of the legacy stream, without an event or a wait
    between them. It follows in order here, and mostly on a GPU."""

    memory: str = "off"
    """An access of a kernel to memory that is not the device's: its launch fails, as on a GPU."""

    race: str = "off"
    """Two threads of a block at the same place of shared memory, one of which writes, with nothing
    between them that orders them."""

    @classmethod
    def parse(cls, text: str) -> Self:
        parts = (part.strip() for part in text.split(","))
        return super().parse(",".join(f"{p}={_USUAL[p]}" if p in _USUAL else p for p in parts))

    @property
    def compiled(self) -> bool:
        """Whether kernels have to be compiled for it."""
        return (self.memory, self.race) != ("off", "off")
