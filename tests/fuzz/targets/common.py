"""What targets have in common: the library, its statuses, folders."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from cudla_sim.testing import load

ROOT = Path(__file__).resolve().parent.parent.parent.parent
Target = Callable[[Random], None]
pointer = ctypes.c_void_p


def documented(status: int, statuses: Any, call: str) -> int:
    assert status in statuses._value2member_map_, f"{call} answers {status}, which is no status"
    return status


@functools.cache
def api() -> Any:
    return load()
