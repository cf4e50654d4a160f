"""What every operation raises, and the calls into the C library that raise it."""

from __future__ import annotations

import ctypes
from typing import Any

import cudla_sim
from cudla_sim.capi import load

_LIBC = ctypes.CDLL(None)
_LIBC.free.argtypes = [ctypes.c_void_p]


class DpuError(Exception):
    """``status`` is the ``dpu_error_t``, 0 when no C function was involved."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


def call(function: str, *arguments: Any) -> None:
    """Calls a C function that answers a status. Raises DpuError with its text and the reason."""
    status = int(getattr(load(), function)(*arguments))
    if status:
        raise DpuError(_text(status), status)


def _text(status: int) -> str:
    reason = cudla_sim.last_explanation()  # before another call can replace it
    words = load().dpu_error_to_string(status)
    text = ctypes.string_at(words).decode() if words else "internal error"
    _LIBC.free(words)
    return f"{text}: {reason}" if reason else text
