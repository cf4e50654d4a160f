"""Processes of DPU and VPU programs."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section
from ..core.errors import ConfigError


@dataclass(frozen=True)
class Settings(Section):
    """Of all workers."""

    worker_timeout: float = 0.0
    """Seconds that one launch of a DPU or VPU program may take before its process is ended and the
    launch fails; 0: any time. After 10 s a line on stderr says what is waited for."""

    def __post_init__(self) -> None:
        if not 0 <= self.worker_timeout <= 1e6:
            raise ConfigError(
                f"worker_timeout is {self.worker_timeout}; it is in seconds, up to 10^6, 0: none"
            )
