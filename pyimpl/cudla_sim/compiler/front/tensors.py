"""What a name of the ONNX model stands for while the model is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.precisions import INT8, INT8_TOP, RANGES

from .views import View


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """Known at compile time.

    *steps* is the real value of one integer step where the array was quantised symmetrically to
    8 bits: a number, or one for each position of dimension *axis*.
    """

    array: NDArray[Any]
    steps: NDArray[np.float64] | None = None
    axis: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its elements."""
        return self.array.dtype

    def floats(self) -> NDArray[np.float32]:
        """As float32."""
        return np.asarray(self.array, np.float32)

    def ints(self) -> list[int]:
        """As a flat list of integers."""
        return [int(x) for x in np.asarray(self.array).reshape(-1)]


@dataclass(frozen=True, slots=True)
class Quantization:
    """How integers of the model stand for real numbers: real = (integer - zero) * scale."""

    scale: float
    zero: int
    dtype: str

    def limits(self) -> tuple[float, float]:
        """What saturation means beside the symmetric range.

        Exporters leave a ReLU out in front of integers that cannot be negative; other ends of the
        range only cut what calibration took for outliers.
        """
        info = np.iinfo(self.dtype)
        return (0.0 if self.zero == info.min else -np.inf), (
            0.0 if self.zero == info.max else np.inf
        )

    def step(self) -> float:
        """The symmetric int8 step that covers the range; the same scale where that is exact."""
        info = np.iinfo(self.dtype)
        low, high = info.min - self.zero, info.max - self.zero
        if low >= RANGES[INT8][0] and high <= INT8_TOP:
            return self.scale
        return self.scale * max(-low, high) / INT8_TOP


@dataclass(frozen=True, slots=True)
class Tensor:
    """Computed at run time: a view of a value.

    *quantized* is given between QuantizeLinear and DequantizeLinear: the ONNX tensor holds
    integers there, the value real numbers. *dtype* is the ONNX element type, as numpy's name.
    """

    view: View
    dtype: str = "float32"
    quantized: Quantization | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return self.view.shape

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return self.view.rank

    def viewed(self, view: View) -> Tensor:
        """The same kind of tensor with another view."""
        return replace(self, view=view)


@dataclass(frozen=True, slots=True)
class Several:
    """A sequence of known length (torch's split and chunk in some exports)."""

    items: tuple[Constant | Tensor, ...]


Item = Constant | Tensor
"""What operators compute with."""
