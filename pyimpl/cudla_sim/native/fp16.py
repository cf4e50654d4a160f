"""The multiply-accumulate of fp16 convolution (``shim/native/fp16_mac.c``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .compiled import array, ffi, lib

Halves = NDArray[np.uint16]
Integers = NDArray[np.int64]


class Fp16Mac:
    """CMAC and CACC, bit for bit; ``nvdla.hw.units.fp16_mac.convolve`` is the same in numpy."""

    @staticmethod
    def convolve(
        frame: Halves,
        pixels: Integers,
        offsets: Integers,
        starts: Integers,
        packed: NDArray[np.int32],
        raw: Halves,
        odd: NDArray[np.uint8],
    ) -> NDArray[np.uint32]:
        """FP32 patterns [pixel, kernel]; the arguments are those of ``Gather`` and ``Weights``.

        The interpreter lock is free meanwhile.
        """
        lanes = raw.shape[1]
        frame = np.ascontiguousarray(frame)
        pixels = np.ascontiguousarray(pixels, np.int64)
        offsets = np.ascontiguousarray(offsets, np.int64)
        starts = np.ascontiguousarray(starts, np.int64)
        result = np.empty((len(pixels), lanes), np.uint32)
        lib.sim_fp16_mac(
            array("uint16_t", frame),
            array("int64_t", pixels),
            len(pixels),
            array("int64_t", offsets),
            array("int64_t", starts),
            len(starts) - 1,
            array("int32_t", packed),
            array("uint16_t", raw),
            array("uint8_t", odd),
            lanes,
            ffi.new("int64_t[]", lanes),
            ffi.new("int32_t[]", lanes),
            array("uint32_t", result),
        )
        return result
