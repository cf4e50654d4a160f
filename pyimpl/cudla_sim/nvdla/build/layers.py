"""The layers a network is built from, and what they compute in floating point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NvdlaError
from ..facts.maps.enums import ENUMS

Array = NDArray[np.float32]


@dataclass(eq=False)
class Tensor:
    """A value in the network; *shape* is (channels, height, width).

    ``scale`` is the real value of one integer step (set when an int8 network is calibrated).
    """

    name: str
    shape: tuple[int, int, int]
    scale: float = 0.0


@dataclass(frozen=True)
class Image:
    """How pixels become values: (pixel - mean) * factor; *format* is an 8-bit pixel format."""

    format: str = "A8B8G8R8"
    mean: tuple[int, ...] = (0, 0, 0, 0)
    factor: float = 1.0

    @property
    def number(self) -> int:
        """Number of the pixel format."""
        number = ENUMS["pixel_format"].get("T_" + self.format.removeprefix("T_"))
        if number is None:
            known = ", ".join(sorted(n[2:] for n in ENUMS["pixel_format"] if n.startswith("T_")))
            raise NvdlaError(f"pixel format {self.format!r} does not exist; there are {known}")
        return number

    def values(self, pixels: NDArray[Any]) -> Array:
        """Real values of pixels [n, c, h, w]."""
        mean = np.array(self.mean[: pixels.shape[1]], np.float32)
        return (np.asarray(pixels, np.float32) - mean[None, :, None, None]) * self.factor


@dataclass(eq=False)
class Layer:
    """Base of all layers."""

    name: str
    inputs: list[Tensor]
    output: Tensor
    relu: bool = False

    def compute(self, *values: Array) -> Array:
        """Return the result for inputs [n, c, h, w]."""
        raise NotImplementedError

    def reference(self, *values: Array) -> Array:
        """Result with the activation applied."""
        result = self.compute(*values)
        return np.maximum(result, 0) if self.relu else result


@dataclass(eq=False)
class Conv(Layer):
    """Convolution with bias; ``weights`` [kernel, channel, row, column]."""

    weights: Array = field(default_factory=lambda: np.zeros((1, 1, 1, 1), np.float32))
    bias: Array = field(default_factory=lambda: np.zeros(1, np.float32))
    stride: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilation: tuple[int, int] = (1, 1)
    compress: bool = False

    def compute(self, *values: Array) -> Array:
        top, bottom, left, right = self.pads
        x = np.pad(values[0], ((0, 0), (0, 0), (top, bottom), (left, right)))
        kernels, _, rows, columns = self.weights.shape
        _, height, width = self.output.shape
        result = np.zeros((len(x), kernels, height, width), np.float32)
        for row in range(rows):
            for column in range(columns):
                y0, x0 = row * self.dilation[0], column * self.dilation[1]
                part = x[
                    :,
                    :,
                    y0 : y0 + (height - 1) * self.stride[0] + 1 : self.stride[0],
                    x0 : x0 + (width - 1) * self.stride[1] + 1 : self.stride[1],
                ]
                taps = self.weights[:, :, row, column]
                result += np.einsum("nchw,kc->nkhw", part, taps, optimize=True)
        return result + self.bias[None, :, None, None]


@dataclass(eq=False)
class Scale(Layer):
    """Per-channel scale and shift."""

    scale: Array = field(default_factory=lambda: np.ones(1, np.float32))
    shift: Array = field(default_factory=lambda: np.zeros(1, np.float32))

    def compute(self, *values: Array) -> Array:
        return values[0] * self.scale[None, :, None, None] + self.shift[None, :, None, None]


@dataclass(eq=False)
class Activation(Layer):
    """Nothing but the activation."""

    def compute(self, *values: Array) -> Array:
        return values[0]


@dataclass(eq=False)
class Curve(Layer):
    """A function of one variable, computed with a look-up table."""

    function: str = "sigmoid"

    def compute(self, *values: Array) -> Array:
        return CURVES[self.function](values[0].astype(np.float64)).astype(np.float32)


@dataclass(eq=False)
class Normalise(Layer):
    """Local response normalisation: x * (k + alpha / size * sum of squares) ** -beta."""

    size: int = 5
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def factor(self, squares: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a sum of squares does to a value."""
        result: NDArray[np.float64] = (self.k + self.alpha / self.size * squares) ** -self.beta
        return result

    def compute(self, *values: Array) -> Array:
        x = values[0].astype(np.float64)
        reach = self.size // 2
        frame = np.pad(x * x, ((0, 0), (reach, reach), (0, 0), (0, 0)))
        sums = sum(frame[:, step : step + x.shape[1]] for step in range(self.size))
        return (x * self.factor(np.asarray(sums))).astype(np.float32)


@dataclass(eq=False)
class Contract(Layer):
    """Spreads groups of channels over the pixels of an enlarged tensor (RUBIK).

    The input has one group of ``group`` channels for each of the stride_y * stride_x positions.
    """

    stride: tuple[int, int] = (1, 1)
    group: int = 1

    def compute(self, *values: Array) -> Array:
        (sy, sx), (channels, height, width) = self.stride, self.output.shape
        parts = values[0].reshape(-1, sy, sx, self.group, height // sy, width // sx)
        moved = parts[:, :, :, :channels].transpose(0, 3, 4, 1, 5, 2)
        return moved.reshape(-1, channels, height, width)


@dataclass(eq=False)
class Add(Layer):
    """Sum of two tensors."""

    def compute(self, *values: Array) -> Array:
        return values[0] + values[1]


POOLS: dict[str, tuple[float, Callable[..., Any]]] = {
    "average": (0.0, np.mean),
    "max": (-np.inf, np.max),
    "min": (np.inf, np.min),
}
"""Methods of :class:`Pool`: what padding counts as, and what is made of a window."""


@dataclass(eq=False)
class Pool(Layer):
    """Pooling with one of *POOLS*."""

    mode: str = "max"
    kernel: tuple[int, int] = (2, 2)
    stride: tuple[int, int] = (2, 2)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)

    def compute(self, *values: Array) -> Array:
        top, bottom, left, right = self.pads
        fill, reduce = POOLS[self.mode]
        _, height, width = self.output.shape
        frame = ((0, 0), (0, 0), (top, bottom + 16), (left, right + 16))
        x = np.pad(values[0], frame, constant_values=fill)
        parts = [
            x[
                :,
                :,
                row : row + (height - 1) * self.stride[0] + 1 : self.stride[0],
                column : column + (width - 1) * self.stride[1] + 1 : self.stride[1],
            ]
            for row in range(self.kernel[0])
            for column in range(self.kernel[1])
        ]
        return np.asarray(reduce(np.stack(parts), axis=0))


@dataclass(eq=False)
class Softmax(Layer):
    """Softmax over the channels, computed on the host."""

    def compute(self, *values: Array) -> Array:
        shifted = np.exp(values[0] - values[0].max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = 0.5 * (1.0 + np.tanh(0.5 * x))
    return result


CURVES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
}
"""Functions of :class:`Curve`."""


def pair(value: int | tuple[int, int]) -> tuple[int, int]:
    """Allow one number for (y, x)."""
    return (value, value) if isinstance(value, int) else value


def four(value: int | tuple[int, ...]) -> tuple[int, int, int, int]:
    """Allow one number or (y, x) for (top, bottom, left, right)."""
    if isinstance(value, int):
        return (value,) * 4
    if len(value) == 2:
        return (value[0], value[0], value[1], value[1])
    top, bottom, left, right = value
    return top, bottom, left, right


def as_float(values: Any) -> Array:
    """Return a float32 array."""
    return np.asarray(values, np.float32)
