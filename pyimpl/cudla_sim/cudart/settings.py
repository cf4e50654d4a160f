"""The GPU."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section, check_choice


@dataclass(frozen=True)
class Settings(Section):
    """Of the machine."""

    gpu: str = "integrated"
    """What CUDA device 0 is: ``integrated`` (Tegra), ``discrete`` (no cuDLA on it) or ``none``."""

    def __post_init__(self) -> None:
        check_choice("gpu", self.gpu, ("integrated", "discrete", "none"))
