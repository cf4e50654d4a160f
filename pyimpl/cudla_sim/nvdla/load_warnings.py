"""Saying what the checker finds when a program loads a network (setting ``checks``)."""

from __future__ import annotations

from ..core.text import tell
from .errors import NvdlaError
from .facts.configs import HardwareConfig
from .loadable import Loadable

_MOST_LINES = 20


def warn(loadable: Loadable, hardware: HardwareConfig, setting: str) -> None:
    """With "warn", print a line for each thing that real hardware would not take."""
    if setting != "warn":
        return
    from .check import check  # programs that do not ask for it should not wait for the import

    try:
        found = check(loadable, hardware)
    except NvdlaError as error:
        tell(f"cudla-sim: check: {error}")
        return
    lines = [f"{hardware.name} would not take {item}" for item in found[:_MOST_LINES]]
    if len(found) > _MOST_LINES:
        lines.append(f"and {len(found) - _MOST_LINES} more (cudla-sim nvdla check shows all)")
    tell("\n".join(f"cudla-sim: check: {line}" for line in lines))
