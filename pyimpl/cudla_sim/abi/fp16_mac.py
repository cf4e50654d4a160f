"""Gives the NVDLA model the C version of the fp16 multiply-accumulate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..nvdla.hw.units.fp16_mac import Gather, Weights, install
from .native import ffi, lib


def _pointer(kind: str, array: NDArray[Any]) -> Any:
    return ffi.from_buffer(f"{kind}[]", array)


def convolve(where: Gather, weights: Weights) -> NDArray[np.uint32]:
    """FP32 patterns [pixel, kernel]; the interpreter lock is free meanwhile."""
    lanes = weights.raw.shape[1]
    frame = np.ascontiguousarray(where.frame)
    pixels = np.ascontiguousarray(where.pixels, np.int64)
    offsets = np.ascontiguousarray(where.offsets, np.int64)
    starts = np.ascontiguousarray(weights.starts, np.int64)
    result = np.empty((len(pixels), lanes), np.uint32)
    lib.sim_fp16_mac(
        _pointer("uint16_t", frame),
        _pointer("int64_t", pixels),
        len(pixels),
        _pointer("int64_t", offsets),
        _pointer("int64_t", starts),
        len(starts) - 1,
        _pointer("int32_t", weights.packed),
        _pointer("uint16_t", weights.raw),
        _pointer("uint8_t", weights.odd),
        lanes,
        _pointer("int64_t", np.empty(lanes, np.int64)),
        _pointer("int32_t", np.empty(lanes, np.int32)),
        _pointer("uint32_t", result),
    )
    return result


install(convolve)
