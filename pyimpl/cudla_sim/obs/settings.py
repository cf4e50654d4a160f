"""What is reported of calls and layers."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.config import Section, check_choice


@dataclass(frozen=True)
class Settings(Section):
    """Of the process."""

    log: str = ""
    """Comma-separated: ``api`` prints one line per call, ``layers`` one line per hardware layer,
    ``firmware`` what an NVDLA firmware says through dla_debug and dla_info."""
    trace: str = ""
    """Write a Chrome/Perfetto trace to this file at exit."""

    def __post_init__(self) -> None:
        for word in filter(None, self.log.split(",")):
            check_choice("log", word, ("api", "layers", "firmware"))
