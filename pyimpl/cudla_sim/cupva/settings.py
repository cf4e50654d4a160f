"""The VPUs of a machine."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section, check_choice
from ..core.errors import ConfigError


@dataclass(frozen=True)
class Settings(Section):
    """Of all kernels and dataflows."""

    pva_dma: str = "trigger"
    """When the DMA moves what a VPU kernel triggers: at the ``trigger``, at the ``sync`` that waits
    for it, or at a ``random`` moment between."""
    pva_seed: int = 0
    """Seed of pva_dma = random, 0 to 2^32 - 1: the same seed moves data at the same moments."""
    pva_allow: str = ""
    """What VPU kernels may do to this machine besides printing: ``files`` (read and write them),
    ``network``, or ``all`` (nothing is enforced), comma separated."""
    pva_checks: str = ""
    """Checks of VPU kernels: ``name=off|warn|fault``, comma separated, a mode alone for all;
    ``sync`` and ``pending``, as in ``cupva.workers.checks``."""
    dataflows: str = ""
    """A folder: every cuPVA dataflow is described there when it is compiled, as text and (with
    matplotlib) as a picture."""

    def __post_init__(self) -> None:
        check_choice("pva_dma", self.pva_dma, ("trigger", "sync", "random"))
        if not 0 <= self.pva_seed < 1 << 32:
            raise ConfigError(f"pva_seed is {self.pva_seed}; it is 0 to {2**32 - 1}")
        for word in filter(None, self.pva_allow.split(",")):
            check_choice("pva_allow", word.strip(), ("files", "network", "all"))
