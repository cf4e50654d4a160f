"""What operators of a model put into the graph while it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Unsupported
from ..graph import Affine, Binary, Clip, Curve, Value
from . import moving
from .nodes import Nodes
from .tensors import Tensor
from .views import View, arranged, narrowed

LARGEST_MATRIX = 1 << 24
"""Elements of a matrix that picks rows or columns of a picture."""


def picked(rows: int, columns: int) -> None:
    """Raises Unsupported for a matrix of rows that pick columns which is too large to make."""
    if rows * columns > LARGEST_MATRIX:
        raise Unsupported(f"{rows} rows or columns would be picked from {columns} one by one")


def identity(length: int) -> NDArray[np.float32]:
    """A matrix that picks all rows. Raises Unsupported for one that is too large."""
    picked(length, length)
    return np.eye(length, dtype=np.float32)


class Builder(Nodes):
    """Nodes by what they compute, and tensors as values."""

    def __init__(self) -> None:
        super().__init__()
        self._moved: dict[tuple[Value, Any], Value] = {}

    def forget(self, count: int) -> None:
        """Only the first *count* nodes are left."""
        gone = {node.output for node in self.nodes[count:]}
        del self.nodes[count:]
        self._moved = {key: value for key, value in self._moved.items() if value not in gone}

    # --- element-wise, on the value behind a tensor: the arrangement stays

    def affine(self, x: Value, scale: Any = 1.0, shift: Any = 0.0, name: str = "") -> Value:
        """x * scale + shift, both of four dimensions or numbers."""
        arrays = [_four(np.asarray(part, np.float32)) for part in (scale, shift)]
        finite(self.node, *arrays)
        return self.add(Affine, [x], x.shape, name, scale=arrays[0], shift=arrays[1])

    def clip(self, x: Value, low: float, high: float, name: str = "") -> Value:
        """Limits."""
        return self.add(Clip, [x], x.shape, name, low=float(low), high=float(high))

    def curve(
        self,
        x: Value,
        function: str,
        name: str = "",
        parameters: Mapping[str, float] | None = None,
    ) -> Value:
        """A function of one variable by the name in :mod:`..curves`."""
        return self.add(
            Curve, [x], x.shape, name, function=function, parameters=dict(parameters or {})
        )

    def binary(self, function: str, x: Value, y: Value, name: str = "") -> Value:
        """Two values; *y* may be smaller as :class:`..graph.Binary` says."""
        return self.add(Binary, [x, y], x.shape, name, function=function)

    # --- arrangement

    def plain(self, view: View) -> Value:
        """The tensor as a value [n, c, h, w], moving data if need be. Raises Unsupported."""
        if view.is_plain():
            return view.value
        key = (view.value, view.dims)
        if key not in self._moved:
            self._moved[key] = moving.move(self, view)
        return self._moved[key]

    def four(self, tensor: Tensor, layout: Sequence[Sequence[int]] | None = None) -> Value:
        """The tensor as a value; *layout* gives its dimensions that make up n, c, h and w."""
        return self.plain(arranged(tensor.view, layout or usual_layout(tensor.shape)))


def finite(what: str, *arrays: NDArray[Any]) -> None:
    """Raises Unsupported if a number is infinite or none."""
    for array in arrays:
        if not np.isfinite(array).all():
            raise Unsupported(
                f"a constant of {what!r} holds NaN or infinity (or overflows float32)",
                "export the model again from sound weights",
            )


def in_order(shape: Sequence[int], batch: int = 1) -> list[list[int]]:
    """The dimensions as n, c, h and w without changing their order; *batch* is n."""
    rank = len(shape)
    if rank and shape[0] == batch:
        first, rest = [0], list(range(1, rank))
    else:
        first, rest = [], list(range(rank))
    groups = [first, rest[:1], rest[1:2], rest[2:]]
    return groups if batch == 1 or first else [[0], *groups[1:]]


def usual_layout(shape: Sequence[int]) -> list[list[int]]:
    """Which dimensions of a tensor become n, c, h and w where nothing says it better."""
    return layouts(shape)[0]


def layouts(shape: Sequence[int]) -> list[list[list[int]]]:
    """Sensible assignments of a tensor's dimensions to n, c, h and w, the likeliest first."""
    rank = len(shape)
    if rank == 0:
        return [[[], [], [], []]]
    if rank == 1:
        return [[[], [0], [], []], [[], [], [], [0]]]
    if rank == 2:
        if shape[0] == 1:
            return [[[0], [1], [], []], [[0], [], [], [1]]]
        return [[[], [1], [], [0]], [[], [0], [], [1]]]
    if rank == 3:
        if shape[0] == 1:
            return [[[0], [1], [], [2]], [[0], [2], [], [1]], [[0], [], [1], [2]]]
        return [[[], [0], [1], [2]], [[], [2], [0], [1]], [[], [2], [], [0, 1]]]
    if rank == 4:
        found = [[[0], [1], [2], [3]], [[0], [3], [1], [2]]]
        return [found[1], found[0]] if _looks_nhwc(shape) else found
    real = [axis for axis in range(1, rank) if shape[axis] > 1]
    if len(real) <= 3:
        places: list[list[int]] = [[d for d in range(rank) if d not in real], [], [], []]
        for place, axis in zip((1, 2, 3) if len(real) == 3 else (1, 3), real, strict=False):
            places[place] = [axis]
        return [places]
    return [
        [[0], [1], [2], list(range(3, rank))],
        [[0], [1, 2], [3], list(range(4, rank))],
        [[0], [rank - 1], [1], list(range(2, rank - 1))],
        [[0], [1], list(range(2, rank - 1)), [rank - 1]],
    ]


def _looks_nhwc(shape: Sequence[int]) -> bool:
    return shape[3] in (1, 3, 4) and min(shape[1:3]) > 4


def _four(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim == 0:
        return array.reshape(1, 1, 1, 1)
    return narrowed(array)
