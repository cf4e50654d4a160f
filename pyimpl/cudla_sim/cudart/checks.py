"""The checks on CUDA programs, each with its own switch."""

from __future__ import annotations

from dataclasses import dataclass

from ..workers.switches import Switches


@dataclass(frozen=True)
class Checks(Switches):
    """Each is ``off`` or ``warn``; ``fault`` is as ``warn`` where there is nothing to end."""

    streams: str = "off"
    """Work in a non-blocking stream behind work of the legacy stream, without an event or a wait
    between them. It follows in order here, and mostly on a GPU."""
