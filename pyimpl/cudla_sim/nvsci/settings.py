"""Whether there is NvSci."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section


@dataclass(frozen=True)
class Settings(Section):
    """Of the machine."""

    nvsci: bool = True
    """False: the NvSci libraries are missing on this machine."""
