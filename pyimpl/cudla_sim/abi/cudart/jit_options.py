"""Options of what is compiled or linked while a program runs.

CUDA Driver API, "Data types used by CUDA driver", ``CUjit_option``.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from ...constants.cudart import CUjit_option_enum as Option
from ...cudart.errors import CudaError
from ..embedding import address, ffi, pointer

_SIZES = {
    Option.CU_JIT_ERROR_LOG_BUFFER: Option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    Option.CU_JIT_INFO_LOG_BUFFER: Option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
}


class SaidByLinker(CudaError):
    """Its log has the words of NVIDIA's linker, which programs look for."""

    def __init__(self, status: int, explanation: str, log: str) -> None:
        super().__init__(status, explanation)
        self.log = log


class Logs:
    """Where a program wants the compiler's words: written when the ``with`` block ends. A link has
    several such blocks, and one buffer for all of them.

    The other options say how code for a GPU is made.
    """

    def __init__(self, count: int, options: Any, values: Any) -> None:
        self.values = values
        self.places: dict[int, int] = {}
        if count > 0 and options and values:
            self.places = {int(options[n]): n for n in range(count)}
        # the size is a number in the place of a pointer, and then how much was written
        self._rooms = {
            size: address(values[self.places[size]]) & 0xFFFFFFFF
            for size in _SIZES.values()
            if size in self.places
        }
        self.began = 0.0

    def __enter__(self) -> Logs:
        self.began = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        said = error.explanation if isinstance(error, CudaError) else ""
        if isinstance(error, SaidByLinker):
            said = error.log
        self._write(Option.CU_JIT_ERROR_LOG_BUFFER, said)
        self._write(Option.CU_JIT_INFO_LOG_BUFFER, "")
        at = self.places.get(Option.CU_JIT_WALL_TIME)
        if at is not None:
            milliseconds = 1e3 * (time.perf_counter() - self.began)
            ffi.cast("float *", self.values + at)[0] = milliseconds

    def _write(self, buffer: Option, said: str) -> None:
        size = _SIZES[buffer]
        place, room = self.places.get(buffer), self._rooms.get(size, 0)
        if place is None or room == 0 or not self.values[place]:
            return
        text = said.encode()[: room - 1] + b"\0"
        ffi.memmove(self.values[place], text, len(text))
        self.values[self.places[size]] = pointer(len(text) if said else 0)
