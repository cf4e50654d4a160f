"""The GPU."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section, check_choice


@dataclass(frozen=True)
class Settings(Section):
    """Of the machine."""

    gpu: str = "integrated"
    """What CUDA device 0 is: ``integrated`` (Tegra), ``discrete`` (no cuDLA on it) or ``none``."""

    cuda_checks: str = ""
    """Checks of CUDA programs, comma separated: ``name`` or ``name=off|warn|fault``. ``streams``
    says where work of a non-blocking stream comes behind work of the legacy stream and nothing
    orders them; ``memory`` and ``race`` are of kernels that ``cudla-sim nvcc`` compiled under
    it."""

    def __post_init__(self) -> None:
        check_choice("gpu", self.gpu, ("integrated", "discrete", "none"))
