"""The version of the library: a call that needs no device and none of what is behind one."""

from __future__ import annotations

from typing import Any

from ...constants import cudla as c
from .family import cudla, null

_VERSION = c.CUDLA_VER_MAJOR * 1_000_000 + c.CUDLA_VER_MINOR * 1000 + c.CUDLA_VER_PATCH


@cudla.export("cudlaGetVersion")
def get_version(version: Any) -> None:
    if not version:
        null(version=version)
    version[0] = _VERSION
