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


class Logs:
    """Where a program wants the compiler's words: written when the ``with`` block ends.

    The other options say how code for a GPU is made.
    """

    def __init__(self, count: int, options: Any, values: Any) -> None:
        self.values = values
        self.places: dict[int, int] = {}
        if count > 0 and options and values:
            self.places = {int(options[n]): n for n in range(count)}
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
        self._write(Option.CU_JIT_ERROR_LOG_BUFFER, Option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, said)
        self._write(Option.CU_JIT_INFO_LOG_BUFFER, Option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "")
        at = self.places.get(Option.CU_JIT_WALL_TIME)
        if at is not None:
            milliseconds = 1e3 * (time.perf_counter() - self.began)
            ffi.cast("float *", self.values + at)[0] = milliseconds

    def _write(self, buffer: int, size: int, said: str) -> None:
        """The size is a number in the place of a pointer, and then how much was written."""
        place, counted = self.places.get(buffer), self.places.get(size)
        if place is None or counted is None or not self.values[place]:
            return
        room = address(self.values[counted]) & 0xFFFFFFFF
        if room == 0:
            return
        text = said.encode()[: room - 1] + b"\0"
        ffi.memmove(self.values[place], text, len(text))
        self.values[counted] = pointer(len(text) if said else 0)
