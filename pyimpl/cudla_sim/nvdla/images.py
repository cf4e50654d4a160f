"""From an input file to the raw buffer of a network's input tensor.

Pictures are converted as the public ``nvdla_runtime`` application does it: fp16 tensors get
``(value - mean[c]) / normalize``, int8 tensors ``floor(value * 127 / 255 + 0.5)`` whatever mean and
divisor are; channels that the picture does not have are zero. A *scale*, which that application has
not, makes both ``(value - mean[c]) * scale / normalize``, int8 to the nearest and saturated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import untrusted
from ..core.memory import Bytes
from . import layout
from .emu import half_ties_away
from .facts.precisions import INT8_TOP
from .loadable import DataType, TensorDesc

_PICTURES = {".pgm", ".ppm", ".jpg", ".jpeg", ".png"}


class InputError(Exception):
    """A file that cannot be this tensor's input; the text says why."""


Numbers = float | Sequence[float]
"""One number, or one a channel."""


def load(
    path: Path,
    tensor: TensorDesc,
    mean: Sequence[float] = (),
    normalize: Numbers = 1.0,
    scale: Numbers | None = None,
) -> Bytes:
    """The tensor's whole buffer (uint8). *scale* is None where that application is meant; it and
    *normalize* are one number, or one a channel. Raises InputError."""
    try:
        if path.suffix == ".npy":
            return _from_array(untrusted.read_npy(path), tensor)
        if path.suffix.lower() in _PICTURES:
            return _from_picture(_pixels(path), tensor, mean, normalize, scale)
        return _raw(untrusted.read_bytes(path), tensor)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (InputError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None


def _raw(data: bytes, tensor: TensorDesc) -> Bytes:
    if len(data) != tensor.size:
        raise InputError(f"{len(data)} bytes; the buffer of {tensor.name!r} has {tensor.size}")
    return np.frombuffer(data, np.uint8).copy()


def _from_array(array: NDArray[Any], tensor: TensorDesc) -> Bytes:
    shape = (tensor.n, tensor.c, tensor.h, tensor.w)
    if array.shape != shape:
        raise InputError(f"the array is {array.shape}; {tensor.name!r} is {shape} (n, c, h, w)")
    dtype = layout.tensor_dtype(tensor)
    if dtype.kind in "iu" and array.dtype.kind == "f" and (array != np.rint(array)).any():
        raise InputError(f"the array holds fractions; {tensor.name!r} holds {dtype}")
    return layout.pack_tensor(tensor, array.astype(dtype))


def _pixels(path: Path) -> NDArray[np.uint8]:
    """Channels, rows, columns of a picture; colours in the order B, G, R as the application's."""
    if path.suffix.lower() in (".pgm", ".ppm"):
        return _netpbm(path.read_bytes())
    try:
        from PIL import Image
    except ImportError:
        raise InputError(
            f"{path.suffix} pictures need Pillow: pip install 'cudla-sim[images]'"
        ) from None
    with Image.open(path) as picture:
        if picture.mode == "L":
            return np.asarray(picture)[None]
        return np.asarray(picture.convert("RGB")).transpose(2, 0, 1)[::-1]


_NETPBM = re.compile(rb"(P[56])" + 3 * rb"(?:\s|#[^\n]*\n)+(\d+)" + rb"\s")
"""Magic, width, height, largest value; one white space ends the header (pgm(5), ppm(5))."""


def _netpbm(data: bytes) -> NDArray[np.uint8]:
    """Binary PGM (P5) and PPM (P6) with up to 255 grey values."""
    head = _NETPBM.match(data)
    if head is None:
        raise InputError("not a binary PGM or PPM picture (P5 or P6)")
    at = head.end()
    width, height, most = (int(word) for word in head.groups()[1:])
    channels = 3 if head[1] == b"P6" else 1
    count = width * height * channels
    if not 0 < most <= 255 or len(data) - at < count:
        raise InputError(f"{len(data) - at} bytes of pixels; {width} x {height} needs {count}")
    pixels = np.frombuffer(data, np.uint8, count, at).reshape(height, width, channels)
    return pixels.transpose(2, 0, 1)[::-1]


def _from_picture(
    pixels: NDArray[np.uint8],
    tensor: TensorDesc,
    mean: Sequence[float],
    normalize: Numbers,
    scale: Numbers | None,
) -> Bytes:
    channels, height, width = pixels.shape
    if (height, width) != (tensor.h, tensor.w):
        raise InputError(f"{width} x {height} pixels; {tensor.name!r} is {tensor.w} x {tensor.h}")
    used = min(channels, tensor.c)
    values = pixels[:used].astype(np.float32)
    full = np.zeros((tensor.n, tensor.c, height, width), layout.tensor_dtype(tensor))
    offsets = np.zeros(used, np.float32)
    offsets[: used if len(mean) == 1 else min(used, len(mean))] = list(mean)[:used]
    factors = _each(1.0 if scale is None else scale, used)
    moved = (values - offsets[:, None, None]) * factors / _each(normalize, used)
    if tensor.data_type == DataType.HALF:
        full[0, :used] = half_ties_away(moved)
    elif tensor.data_type == DataType.INT8:
        elements = values.astype(np.float64) * INT8_TOP / 255 if scale is None else moved
        full[0, :used] = np.clip(np.floor(elements + 0.5), -INT8_TOP - 1, INT8_TOP)
    else:
        raise InputError(f"pictures go into fp16 and int8 tensors; {tensor.name!r} is neither")
    return layout.pack_tensor(tensor, full)


def _each(numbers: Numbers, channels: int) -> NDArray[np.float32]:
    found = np.atleast_1d(np.asarray(numbers, np.float32))
    if len(found) not in (1, channels):
        raise InputError(f"{len(found)} numbers of --scale or --normalize for {channels} channels")
    return found.reshape(-1, 1, 1)
