"""Operations that only the back end knows: what units do, or what costs nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..graph import Array, Node, Pads, Pair


@dataclass(eq=False, kw_only=True)
class KernelConv(Node):
    """Convolution whose kernel k reads channels ``first[k]`` ... ``first[k] + weights.shape[1]``.

    weights [kernels, channels of a kernel, rows, columns], bias [kernels]. Groups, permutations,
    transposed and depthwise convolutions all become this. Without *first* kernel k reads from
    channel k on. *weight_scale* and *compress* as in graph.Conv.
    """

    weights: Array
    bias: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    first: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    stride: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    dilation: Pair = (1, 1)
    pad_value: float = 0.0
    weight_scale: NDArray[np.float64] | None = None
    compress: bool | None = None

    def __post_init__(self) -> None:
        kernels = len(self.weights)
        self.bias = self.bias if len(self.bias) else np.zeros(kernels)
        self.first = self.first if len(self.first) else np.arange(kernels)


@dataclass(eq=False, kw_only=True)
class Interleave(Node):
    """Groups of *group* channels of the input become the pixels of an enlarged output.

    Input channel (y * sx + x) * group + c is output pixel (h * sy + y, w * sx + x), channel c.
    """

    stride: Pair
    group: int


@dataclass(eq=False, kw_only=True)
class GatherLines(Node):
    """Output line y is input line ``rows[y]``, output pixel x of it is ``columns[x]``."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


@dataclass(eq=False, kw_only=True)
class View(Node):
    """The same bytes under another shape: [n, c, h, w] <-> [n, c * h * w, 1, 1].

    *order* [c * h * w] says which logical channel of the flat side is element (c, h, w) of the
    other side in C order.
    """


@dataclass(eq=False, kw_only=True)
class PermuteChannels(Node):
    """Output channel i is input channel ``channels[i]``, or 0 where that is -1."""

    channels: NDArray[np.int64]
