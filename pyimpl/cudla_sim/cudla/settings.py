"""What cuDLA allows."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section
from ..core.errors import ConfigError


@dataclass(frozen=True)
class Settings(Section):
    """Of all devices."""

    dla_version: str = "2.0"
    """What CUDLA_DEVICE_VERSION answers: 1.0 is Xavier, 2.0 is Orin."""
    multi_module: bool = False
    """Allow several loadables on one device handle (cuDLA after 1.4) instead of one."""
    register_host_memory: bool = False
    """Let cudlaMemRegister take any host pointer; real cuDLA takes CUDA memory only."""

    def __post_init__(self) -> None:
        major, dot, minor = self.dla_version.partition(".")
        if not (dot and all(part.isascii() and part.isdigit() for part in (major, minor))):
            raise ConfigError(f"dla_version is {self.dla_version!r}; it is major.minor, as in 2.0")
