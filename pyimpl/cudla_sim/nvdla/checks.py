"""Saying what the checker finds when a program loads a network (setting ``checks``)."""

from __future__ import annotations

import sys

from .errors import NvdlaError
from .hw.configs import HardwareConfig
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
        sys.stderr.write(f"cudla-sim: check: {error}\n")
        return
    lines = [f"{hardware.name} would not take {item}" for item in found[:_MOST_LINES]]
    if len(found) > _MOST_LINES:
        lines.append(f"and {len(found) - _MOST_LINES} more (cudla-sim nvdla check shows all)")
    sys.stderr.writelines(f"cudla-sim: check: {line}\n" for line in lines)
