"""What cuDLA allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..board_table import BOARDS, NAMES
from ..core.config import Section
from ..core.errors import ConfigError


@dataclass(frozen=True)
class Settings(Section):
    """Of all devices."""

    board: str = ""
    """A board of Jetson or DRIVE (``orin``, ``xavier``, ``orin-nx``, ...; ``board_table``):
    sets dla_count and dla_version where these are not given, and what ``cudla-sim trtexec`` builds
    for. Results stay those of the open NVDLA."""
    dla_version: str = "2.0"
    """What CUDLA_DEVICE_VERSION answers: 1.0 is Xavier, 2.0 is Orin."""
    multi_module: bool = False
    """Allow several loadables on one device handle (cuDLA after 1.4) instead of one."""
    register_host_memory: bool = False
    """Let cudlaMemRegister take any host pointer; real cuDLA takes CUDA memory only."""

    def implied(self) -> Mapping[str, Any]:
        if not self.board:
            return {}
        board = BOARDS[self.board]
        return {"dla_count": board.cores, "dla_version": board.device_version}

    def __post_init__(self) -> None:
        if self.board and self.board not in BOARDS:
            raise ConfigError(f"board is {self.board!r}; it is one of {', '.join(NAMES)}")
        major, dot, minor = self.dla_version.partition(".")
        if not (dot and all(part.isascii() and part.isdigit() for part in (major, minor))):
            raise ConfigError(f"dla_version is {self.dla_version!r}; it is major.minor, as in 2.0")
