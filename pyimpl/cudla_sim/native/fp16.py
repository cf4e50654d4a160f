"""The multiply-accumulate of fp16 convolution (``shim/native/fp16_mac.c``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from .. import lazy
from .compiled import array, ffi, lib

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..constants.native_types import sim_fp16_job
else:
    np = lazy.module("numpy")

Halves: TypeAlias = "NDArray[np.uint16]"
Integers: TypeAlias = "NDArray[np.int64]"


def available() -> list[str]:
    """What this machine can compute it with, fastest first."""
    found: list[str] = []
    while (name := lib.sim_fp16_instructions(len(found))) != ffi.NULL:
        found.append(ffi.string(name).decode())
    return found


class Fp16Mac:
    """CMAC and CACC, bit for bit; ``convolve`` of ``nvdla.hw.units.conv.reference.fp16`` is the
    same in numpy.

    *instructions*: one of ``available()``, empty for the fastest. Raises ValueError for others.
    """

    def __init__(self, instructions: str = "") -> None:
        if instructions and instructions not in available():
            raise ValueError(f"this machine has no {instructions}")
        self._name = ffi.new("char[]", instructions.encode()) if instructions else ffi.NULL

    def convolve(
        self,
        frame: Halves,
        pixels: Integers,
        offsets: Integers,
        starts: Integers,
        packed: NDArray[np.int32],
        raw: Halves,
        odd: NDArray[np.uint8],
    ) -> NDArray[np.uint32]:
        """FP32 patterns [pixel, kernel]; the arguments are those of ``Gather`` and ``Weights``.

        All cores compute, the interpreter lock is free meanwhile. Raises MemoryError.
        """
        lanes = raw.shape[1]
        result = np.empty((len(pixels), lanes), np.uint32)
        described: sim_fp16_job = {  # it keeps the arrays alive
            "frame": array("uint16_t", np.ascontiguousarray(frame)),
            "pixels": array("int64_t", np.ascontiguousarray(pixels, np.int64)),
            "pixel_count": len(pixels),
            "offsets": array("int64_t", np.ascontiguousarray(offsets, np.int64)),
            "starts": array("int64_t", np.ascontiguousarray(starts, np.int64)),
            "steps": len(starts) - 1,
            "packed": array("int32_t", packed),
            "raw": array("uint16_t", raw),
            "odd": array("uint8_t", odd),
            "kernels": lanes,
            "results": array("uint32_t", result),
        }
        if lib.sim_fp16_mac(ffi.new("struct sim_fp16_job *", described), self._name):
            raise MemoryError
        return result
