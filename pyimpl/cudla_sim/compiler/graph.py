"""The network between front and back end: real numbers, four dimensions, constants folded.

Every value is [n, c, h, w] in float32. Operations say what is computed, not how hardware does it;
what an ONNX model writes in many ways (Gemm, MatMul, a 1 x 1 Conv) is one operation here. The
front makes graphs, :func:`.render.model` writes them as ONNX for the float reference, the back
end lowers them. Nodes are in topological order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import Refusal

if TYPE_CHECKING:
    from .outline import Outline
    from .pixels import Image

Array = NDArray[np.float32]
Shape = tuple[int, int, int, int]
Pair = tuple[int, int]
Pads = tuple[int, int, int, int]
"""Top, bottom, left, right."""


@dataclass(eq=False, slots=True)
class Value:
    """A tensor [n, c, h, w]; *name* is that of the ONNX tensor where there is one.

    *scale* is the real value of one integer step where the model itself says it (Q/DQ), else None.
    """

    name: str
    shape: Shape
    scale: float | None = None

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.shape})"


@dataclass(eq=False, kw_only=True)
class Node:
    """Base of all operations. *name* is the name of the ONNX node (or nodes, joined by " + ")."""

    name: str
    inputs: list[Value]
    output: Value

    @property
    def kind(self) -> str:
        """The operation's name for messages."""
        return type(self).__name__


@dataclass(eq=False, kw_only=True)
class Conv(Node):
    """Convolution; weights [kernels, c / groups, rows, columns], bias [kernels].

    Outside the input lies *pad_value* (real). *weight_scale* [kernels] is given where the model
    has quantised weights: every weight is then a multiple of its kernel's scale. *compress* says
    whether weights are stored without zeros; None: where that pays.
    """

    weights: Array
    bias: Array
    stride: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1
    pad_value: float = 0.0
    weight_scale: NDArray[np.float64] | None = None
    compress: bool | None = None


@dataclass(eq=False, kw_only=True)
class Deconv(Node):
    """Transposed convolution; weights [c, kernels / groups, rows, columns], bias [kernels].

    *pads* crop the result; *output_padding* (y, x) adds lines and columns at the end.
    """

    weights: Array
    bias: Array
    stride: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    output_padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1
    weight_scale: NDArray[np.float64] | None = None


@dataclass(eq=False, kw_only=True)
class Affine(Node):
    """x * scale + shift; both broadcast to (1, c, h, w): per tensor, channel or element."""

    scale: Array
    shift: Array = field(default_factory=lambda: np.zeros((1, 1, 1, 1), np.float32))


@dataclass(eq=False, kw_only=True)
class Binary(Node):
    """Two tensors: kind "add", "sub" (first - second), "mul", "max", "min".

    The second may be broadcast: (n, c, 1, 1), (n, 1, h, w) or (n, 1, 1, 1).
    """

    function: str


@dataclass(eq=False, kw_only=True)
class Clip(Node):
    """Limits; ReLU is Clip(low=0, high=inf)."""

    low: float = -np.inf
    high: float = np.inf


@dataclass(eq=False, kw_only=True)
class PRelu(Node):
    """x where x >= 0, else x * slope; slope broadcasts to (1, c, h, w)."""

    slope: Array


@dataclass(eq=False, kw_only=True)
class Curve(Node):
    """A function of one variable by name (see :mod:`.curves`), e.g. "Sigmoid", "SiLU"."""

    function: str
    parameters: dict[str, float] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True)
class Pool(Node):
    """Pooling: mode "max", "min" or "average" (a method of PDP); padding never
    counts for max and min.

    For "average", the sum of the elements inside the input is divided by *divisor*, a number or
    an array [oh, ow]. Global pooling has a kernel of the input's size.
    """

    mode: str
    kernel: Pair
    stride: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    divisor: float | Array = 1.0


@dataclass(eq=False, kw_only=True)
class Concat(Node):
    """Concatenation along axis 1, 2 or 3."""

    axis: int


@dataclass(eq=False, kw_only=True)
class Slice(Node):
    """A box: *starts* and *steps* (positive) of c, h, w; its size is the output's shape."""

    starts: tuple[int, int, int]
    steps: tuple[int, int, int] = (1, 1, 1)


@dataclass(eq=False, kw_only=True)
class ChannelGather(Node):
    """Output channel i is input channel ``channels[i]`` (shuffles, splits with a step)."""

    channels: tuple[int, ...]


@dataclass(eq=False, kw_only=True)
class DepthToSpace(Node):
    """Blocks of channels become pixels. ``crd``: channel = (c, y, x), else DCR: (y, x, c)."""

    block: int
    crd: bool = False


@dataclass(eq=False, kw_only=True)
class SpaceToDepth(Node):
    """Pixels of a block become channels; output channel = (y, x, c)."""

    block: int


@dataclass(eq=False, kw_only=True)
class Resize(Node):
    """Separable linear map: out = rows @ x @ columns.T; rows [oh, h], columns [ow, w].

    "nearest" has one 1 in each line of both.
    """

    mode: str
    rows: Array
    columns: Array


@dataclass(eq=False, kw_only=True)
class Pad(Node):
    """Pads of h and w (top, bottom, left, right): mode "constant", "edge" or "reflect".

    *channels* are constant channels before and behind.
    """

    pads: Pads
    mode: str = "constant"
    value: float = 0.0
    channels: Pair = (0, 0)


@dataclass(eq=False, kw_only=True)
class Lrn(Node):
    """x / (k + alpha / size * sum of squares of *size* channels) ** beta."""

    size: int
    alpha: float
    beta: float
    k: float

    def factor(self, squares: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a sum of squares does to a value."""
        result: NDArray[np.float64] = (self.k + self.alpha / self.size * squares) ** -self.beta
        return result


@dataclass(eq=False, kw_only=True)
class Softmax(Node):
    """Softmax along axis 1, 2 or 3."""

    axis: int = 1


@dataclass(eq=False, kw_only=True)
class Transpose(Node):
    """Moves data: output axis i is input axis ``order[i]`` (order[0] is 0)."""

    order: tuple[int, int, int, int]


@dataclass(eq=False, kw_only=True)
class Reshape(Node):
    """The same elements in C order [n, c, h, w] under another shape."""


@dataclass(eq=False, kw_only=True)
class Port:
    """An input or output of the network: how the ONNX tensor lies in its value.

    The ONNX tensor of *shape* is the value (n, c, h, w) transposed by *order* (axes of the value
    in the order of the tensor) and reshaped. Where *split* is given the value is reshaped to it
    first, and *order* permutes its axes (heads of detectors: 255 channels as 3 x 85). *dtype* is
    numpy's name of the ONNX element type. Where it is an integer type, *scale* and *zero_point*
    say what its numbers mean: real = (integer - zero_point) * scale. An *image* are pixels, which a
    convolution reads as the image says.
    """

    name: str
    shape: tuple[int, ...]
    value: Value
    order: tuple[int, ...] = (0, 1, 2, 3)
    dtype: str = "float32"
    split: tuple[int, ...] = ()
    scale: float | None = None
    zero_point: int = 0
    image: Image | None = None

    def to_value(self, array: NDArray[Any]) -> Array:
        """From the ONNX tensor's shape and type to real numbers [n, c, h, w]."""
        stored = self.split or self.value.shape
        moved = np.asarray(array, np.float32).reshape([stored[axis] for axis in self.order])
        if self.scale is not None:
            moved = (moved - np.float32(self.zero_point)) * np.float32(self.scale)
        moved = moved.transpose(np.argsort(self.order)).reshape(self.value.shape)
        return np.ascontiguousarray(moved)

    def from_value(self, array: Array) -> NDArray[Any]:
        """From real numbers [n, c, h, w] to the ONNX tensor's shape; integers where it has them."""
        if self.split:
            array = array.reshape(self.split)
        tensor = array.transpose(self.order).reshape(self.shape).copy()
        if self.scale is None:
            return tensor
        limits = np.iinfo(self.dtype)
        whole = np.rint(tensor / self.scale) + self.zero_point
        return np.clip(whole, limits.min, limits.max).astype(self.dtype)


@dataclass(eq=False, kw_only=True)
class Graph:
    """A network."""

    inputs: list[Port]
    outputs: list[Port]
    nodes: list[Node]
    name: str = "network"
    notes: list[str] = field(default_factory=list)
    """What the front changed or left out, for the report."""
    precise: set[str] = field(default_factory=set)
    """Names of nodes that integers of 8 bits cannot compute well: they want halves."""
    outline: Outline | None = None
    """The names of the model that it was read from."""
    refusals: list[Refusal] = field(default_factory=list)
    """Nodes that it lacks: what they compute are inputs, what they read are outputs."""
    ends: list[Port] = field(default_factory=list)
    """Those outputs."""

    def values(self) -> Iterator[Value]:
        """Every value once: inputs, then the outputs of the nodes."""
        for port in self.inputs:
            yield port.value
        for node in self.nodes:
            yield node.output

    def consumers(self) -> dict[Value, list[Node]]:
        """Who reads each value."""
        found: dict[Value, list[Node]] = {value: [] for value in self.values()}
        for node in self.nodes:
            for value in node.inputs:
                found[value].append(node)
        return found
