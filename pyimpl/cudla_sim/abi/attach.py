"""Runs once when the native library has found Python: attaches every handler.

The embedding code imports this module; an exception here makes every call answer its failure.
"""

from __future__ import annotations

import io
import sys
from typing import Any

from .. import obs
from ..core import process
from . import cudart, cudla, cupva, entry, nvdla, nvsci, sim, upmem  # noqa: F401  (imported to attach their handlers)
from .embedding import ffi, lib
from .upmem import fast


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
        sys.stderr.write(f"cudla-sim: while writing reports at exit: {error}\n")


ffi.def_extern(name="impl_sim_at_exit")(_at_exit)


def _attach() -> Any:
    if lib.sim_started_python():
        sys.stdout = _HostStdio(to_stderr=False)
        sys.stderr = _HostStdio(to_stderr=True)
    entry.check_complete()
    process.on_watching_change(fast.watching_changed)
    obs.begin()


_attach()
