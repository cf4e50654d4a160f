"""What the commands that read loadables have in common for networks in parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...core import process
from ...nvdla import target
from ...nvdla.loadable import Loadable
from ...nvdla.parts.package import MAGIC, Package
from ...nvdla.parts.summary import parts_as_list, summary
from ...nvdla.timing.parameters import Surroundings


def package_of(data: bytes) -> Package | None:
    """A network in parts; None for anything else. Raises NvdlaError."""
    return Package.decode(data) if data.startswith(MAGIC) else None


def in_parts(file: Path) -> bool:
    """Whether a file that can be read is a network in parts."""
    try:
        with file.open("rb") as opened:
            return opened.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def loadables(package: Package, wish: str) -> Iterator[tuple[int, Loadable, str]]:
    """Number, loadable and configuration of each part for the hardware. Raises NvdlaError."""
    for number, part in enumerate(package.parts):
        if not part.host:
            loadable = Loadable.parse(part.data)
            known = wish if wish not in ("", target.AUTO) else package.config
            yield number, loadable, target.choose(loadable, known)


def surroundings() -> Surroundings:
    """Those of the settings."""
    return Surroundings.of(process.current().config)


def as_json(package: Package, around: Surroundings) -> dict[str, Any]:
    """The members that commands add for a network in parts. Raises NvdlaError."""
    return {
        "parts": parts_as_list(package),
        "share": summary(package, around).as_dict(),
    }
