"""The output files of the public ``nvdla_runtime`` application: DIMG images and raw dumps."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...nvdla.facts.formats import FEATURE_X8
from ...nvdla.loadable import DataType, TensorDesc

# Numbers of the current application; older golden files count the 16-bit ones one lower.
_X32_INT8, _X8_INT8, _X16_INT16, _X16_FP16 = 40, 41, 42, 43
_NAN = np.float16(31744.0)  # what the application writes for NaN: it assigns a bit pattern's value


def _surface_format(tensor: TensorDesc) -> int:
    if tensor.data_type == DataType.INT8:
        return _X8_INT8 if tensor.pixel_format == FEATURE_X8 else _X32_INT8
    return _X16_INT16 if tensor.data_type == DataType.INT16 else _X16_FP16


def dimg(tensor: TensorDesc, values: NDArray[Any]) -> bytes:
    """A head of 36 bytes, then the elements of ``values`` (n, c, h, w) in planar order."""
    head = struct.pack(
        "<4s8I",
        b"DIMG",
        0,
        _surface_format(tensor),
        tensor.w,
        tensor.h,
        tensor.c,
        tensor.strides[1],
        tensor.strides[2],
        tensor.size,
    )
    elements = values[0]
    if elements.dtype == np.float16:
        elements = np.where(np.isnan(elements), _NAN, elements)
        elements = np.where(elements == np.float16(32768), np.float16(0), elements)
    return head + np.ascontiguousarray(elements).tobytes()


def raw_dump(values: NDArray[Any]) -> str:
    """Every element as C++ streams print it, with a space behind each, in planar order."""
    flat = values[0].ravel()
    if flat.dtype.kind == "f":
        return "".join(f"{float(v):.6g} " for v in flat)
    return "".join(f"{int(v)} " for v in flat)
