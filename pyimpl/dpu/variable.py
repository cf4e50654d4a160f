"""The contents of a symbol, read from the DPUs of a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast


class DpuVariable:
    """One buffer a DPU. Every method gives a list with one entry a DPU; of a single DPU the entry
    itself; and for an entry of one number the number itself."""

    def __init__(self, contents: Sequence[memoryview]) -> None:
        self.contents = contents

    def data(self) -> Any:
        """The bytes, as memory views."""
        return _single(self.contents)

    def int8(self) -> Any:
        return self._as("b")

    def uint8(self) -> Any:
        return self._as("B")

    def int16(self) -> Any:
        return self._as("h")

    def uint16(self) -> Any:
        return self._as("H")

    def int32(self) -> Any:
        return self._as("i")

    def uint32(self) -> Any:
        return self._as("I")

    def int64(self) -> Any:
        return self._as("q")

    def uint64(self) -> Any:
        return self._as("Q")

    def float(self) -> Any:
        return self._as("f")

    def double(self) -> Any:
        return self._as("d")

    def _as(self, form: str) -> Any:
        """``form`` is a letter of ``struct``. Raises TypeError when the bytes are no multiple."""
        return _single([_single(view.cast(cast(Any, form))) for view in self.contents])


def _single(values: Any) -> Any:
    return values[0] if len(values) == 1 else values
