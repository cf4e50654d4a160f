"""The event loop of the kernel-mode driver: interrupts in, firmware forward, until a task ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..errors import Firmware, KmdError
from .firmware import FirmwareEngine


class Served(Protocol):
    """What has interrupts (``hw.chip.Chip``, or other hardware)."""

    @property
    def irq(self) -> bool:
        """Level of the interrupt line."""

    def advance(self) -> bool:
        """Let something end; False if nothing runs and nothing can start."""

    def waiting(self) -> list[str]:
        """Who waits for what."""


def serve(
    chip: Served,
    firmware: FirmwareEngine,
    check: Callable[[], None] = lambda: None,
    advance: Callable[[], bool] | None = None,
) -> None:
    """Start the task behind a firmware's port and serve interrupts until it is complete.

    *check* is called between layers and may raise, *advance* in place of the chip's. KmdError if
    nothing can make progress.
    """
    advance = advance or chip.advance
    complete = firmware.execute_task()
    while not complete:
        check()
        progress = advance()
        if chip.irq:
            firmware.isr_handler()
        before = firmware.progress
        complete = firmware.process_events()
        if not (progress or complete or firmware.progress != before):
            raise KmdError(
                Firmware.INVALID_TASK,
                "the scheduler makes no progress: "
                + "; ".join([firmware.stuck(), *chip.waiting()]),
            )
    firmware.clear_task()
