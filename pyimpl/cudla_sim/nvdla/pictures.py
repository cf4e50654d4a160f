"""Pictures as real inputs of networks: (pixel - mean) * scale, red first."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import untrusted
from .errors import NvdlaError

SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".webp"}
_COLOURS = {1: "L", 3: "RGB", 4: "RGBA"}
"""Pillow's modes by channels."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What happens to pixels of 0 ... 255: (pixel - mean) * scale / normalize, each one number or
    one a channel, none for nothing."""

    mean: Sequence[float] = ()
    scale: Sequence[float] = ()
    normalize: Sequence[float] = ()

    @property
    def factors(self) -> tuple[float, ...]:
        """What pixels are multiplied by after the mean."""
        return tuple(self.scale) or tuple(1 / number for number in self.normalize)

    def real(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """Real numbers of pixels [channels, height, width]. Raises NvdlaError."""
        channels = len(pixels)
        return (pixels - _each(self.mean, channels, 0)) * _each(self.factors, channels, 1)


def _each(numbers: Sequence[float], channels: int, default: float) -> NDArray[np.float32]:
    given = list(numbers) or [default]
    if len(given) not in (1, channels):
        raise NvdlaError(f"{len(given)} numbers of --mean or --scale for {channels} channels")
    return np.broadcast_to(np.asarray(given, np.float32), channels).reshape(-1, 1, 1)


def read(file: Path, shape: Sequence[int], how: Preparation) -> NDArray[np.float32]:
    """The picture *file* as real numbers [1, c, h, w] of *shape* (n, c, h, w), resized to it.

    Raises NvdlaError for what is no picture, or an input that cannot be one; OSError.
    """
    try:
        from PIL import Image
    except ImportError:
        raise NvdlaError("pictures need Pillow: pip install 'cudla-sim[images]'") from None
    n, c, h, w = shape
    if n != 1 or c not in _COLOURS:
        raise NvdlaError(f"{file} is a picture, the input has {n} x {c} channels")
    data = untrusted.read_bytes(file)
    try:
        with Image.open(io.BytesIO(data)) as opened:
            picture: Any = opened.convert(_COLOURS[c])
            if picture.size != (w, h):
                picture = picture.resize((w, h), Image.Resampling.BILINEAR)
            pixels = np.asarray(picture, np.float32).reshape(h, w, c).transpose(2, 0, 1)
    except Exception as error:  # each of Pillow's formats raises others, SyntaxError among them
        raise NvdlaError(f"{file} is no sound picture: {error}") from None
    return how.real(pixels)[None]


def tensor(file: Path, shape: Sequence[int], dtype: str, how: Preparation) -> NDArray[Any]:
    """The picture *file* as an ONNX tensor of *shape*, NCHW or NHWC, and numpy's *dtype*; pixels
    beyond the range of integers take the nearest number. Raises NvdlaError, OSError."""
    if len(shape) != 4:
        raise NvdlaError(f"{file} is a picture, the input has {len(shape)} dimensions")
    n, c, h, w = shape
    last = c not in _COLOURS and w in _COLOURS
    if last:
        h, w, c = c, h, w
    found = read(file, (n, c, h, w), how)
    return whole(found.transpose(0, 2, 3, 1) if last else found, dtype)


def whole(real: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Real numbers as numpy's *dtype*; integers are the nearest that there are."""
    if np.dtype(dtype).kind == "f":
        return real.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(real), limits.min, limits.max).astype(dtype)
