"""Runs once when the native library has found Python, and attaches each handler when it is needed.

The embedding code imports this module; an exception here makes every call answer its failure. What
a function needs (its module of handlers, the models behind it, numpy) is imported by its first
call: a program that uses one API does not wait for the others.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Any

from .. import lazy, obs
from ..constants.handlers import MODULES
from ..core.text import tell
from . import entry
from .embedding import ffi, lib


class _HostStdio(io.TextIOBase):
    """A text stream that writes through the host's C stdio, so that piped output keeps order."""

    def __init__(self, to_stderr: bool) -> None:
        self._to_stderr = to_stderr

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        data = text.encode(errors="backslashreplace")
        lib.sim_write(self._to_stderr, data, len(data))
        return len(text)


def _at_exit() -> None:
    try:
        obs.at_exit()
    except Exception as error:  # the process is ending: report, never disturb its exit status
        tell(f"cudla-sim: while writing reports at exit: {error}")


ffi.def_extern(name="impl_sim_at_exit")(_at_exit)


def _attach_one(name: Any) -> int:
    """0 when the function has a handler; its failure is answered otherwise."""
    function = ffi.string(name).decode()
    try:
        with lazy.importing:  # two threads would see halves of modules that need each other
            import_module(f".{MODULES[function]}", __package__)
        entry.check_attached(function)
    except Exception as error:
        entry.internal_error(f"the first call of {function}", error)
        return -1
    return 0


ffi.def_extern(name="impl_sim_attach", error=-1)(_attach_one)


def attach_all() -> None:
    """Attaches every handler. Raises RuntimeError unless exactly the declared functions have one,
    each from the module that its first call imports."""
    for function, module in MODULES.items():
        import_module(f".{module}", __package__)
        entry.check_attached(function)
    entry.check_complete()


def _start() -> None:
    if lib.sim_started_python():
        sys.stdout = _HostStdio(to_stderr=False)
        sys.stderr = _HostStdio(to_stderr=True)
    obs.begin()


_start()
