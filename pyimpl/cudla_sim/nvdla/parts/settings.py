"""Parts of ONNX models that run on the host."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.config import Section
from ...core.errors import ConfigError


@dataclass(frozen=True)
class Settings(Section):
    """Of all networks."""

    host_seconds: float = 600.0
    """How long a part of an ONNX model may run on the host, compiled or run, in seconds."""

    def __post_init__(self) -> None:
        if not 0 < self.host_seconds <= 1e6:
            raise ConfigError(f"host_seconds is {self.host_seconds}; it is above 0, up to 10^6")
