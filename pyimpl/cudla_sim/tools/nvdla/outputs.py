"""The output files of the public ``nvdla_runtime`` application (DIMG images and raw dumps), and
comparing with expected ones."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import untrusted
from ...nvdla import layout
from ...nvdla.facts.formats import FEATURE_X8
from ...nvdla.loadable import DataType, TensorDesc

# Numbers of the current application; older golden files count the 16-bit ones one lower.
_X32_INT8, _X8_INT8, _X16_INT16, _X16_FP16 = 40, 41, 42, 43
_HEAD = struct.Struct("<4s8I")
_NAN = np.float16(31744.0)  # what the application writes for NaN: it assigns a bit pattern's value


def _surface_format(tensor: TensorDesc) -> int:
    if tensor.data_type == DataType.INT8:
        return _X8_INT8 if tensor.pixel_format == FEATURE_X8 else _X32_INT8
    return _X16_INT16 if tensor.data_type == DataType.INT16 else _X16_FP16


def dimg(tensor: TensorDesc, values: NDArray[Any]) -> bytes:
    """A head, then the elements of ``values`` (n, c, h, w) in planar order."""
    head = _HEAD.pack(
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


def first_difference(found: NDArray[Any], golden: NDArray[Any]) -> str:
    """Where two arrays (n, c, h, w) differ first, and how much; "" when they are equal."""
    if found.shape != golden.shape:
        return f"the shape is {found.shape}, expected {golden.shape}"
    # Bits, not values: NaN equals itself, and -0 is not 0.
    same = found.view(np.uint8) == golden.astype(found.dtype).view(np.uint8)
    if same.all():
        return ""
    width = found.dtype.itemsize
    different = np.flatnonzero(~same.reshape(-1, width).all(1))
    position = tuple(int(i) for i in np.unravel_index(different[0], found.shape))
    largest = np.nanmax(np.abs(found.astype(np.float64) - golden.astype(np.float64)))
    return (
        f"{len(different)} of {found.size} elements differ, the first at (n, c, h, w) = "
        f"{position}: {found[position]}, expected {golden[position]}; "
        f"the largest difference is {largest:g}"
    )


def load_golden(path: Path, tensor: TensorDesc) -> NDArray[Any]:
    """Expected values: .npy (n, c, h, w), a DIMG file, a raw buffer, bare elements, or the text
    that the runtime application writes with --rawdump.

    Raises OSError or ValueError.
    """
    dtype = layout.tensor_dtype(tensor)
    shape = (tensor.n, tensor.c, tensor.h, tensor.w)
    if path.suffix == ".npy":
        return untrusted.read_npy(path)
    data = np.frombuffer(untrusted.read_bytes(path), np.uint8)
    count = int(np.prod(shape)) * dtype.itemsize
    if data[:4].tobytes() == b"DIMG":
        data = data[_HEAD.size :]
    elif data.size == tensor.size and data.size != count:
        return layout.unpack_tensor(tensor, data)
    if data.size == count:
        return data.view(dtype).reshape(shape)
    numbers = _numbers(data.tobytes())
    if numbers is not None and numbers.size == np.prod(shape):
        return numbers.astype(dtype).reshape(shape)
    found = f"{data.size} bytes" if numbers is None else f"{numbers.size} numbers"
    raise ValueError(f"{found}; {shape} of {dtype} has {int(np.prod(shape))} in {count} bytes")


def _numbers(text: bytes) -> NDArray[np.float64] | None:
    try:
        return np.array([float(word) for word in text.decode("ascii").split()])
    except ValueError:
        return None
