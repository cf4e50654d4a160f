"""Flatten and the layers behind it, in four dimensions: fully connected as convolution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .edit import Edit, NotPossible
from .pools import KERNEL
from .registry import rewrites

if TYPE_CHECKING:
    import onnx

_FUNCTIONS = {
    "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Clip", "Elu", "HardSigmoid", "HardSwish", "Abs",
    "Dropout", "Identity",
}  # fmt: skip
_TWO = {"Add", "Sub", "Mul", "Div"}
_KEPT = "results of the network keep two dimensions only behind a Flatten on the GPU"

Picture = tuple[int, int, int]


@dataclass
class _Lifted:
    """Matrices (N, C*H*W) as tensors (N, C, H, W): by name, the new name and C, H, W."""

    edit: Edit
    names: dict[str, tuple[str, Picture]] = field(default_factory=dict)
    made: list[tuple[Any, list[Any]]] = field(default_factory=list)
    """Old nodes, and what stands for each."""
    matrices: int = 0

    def take(self, node: onnx.NodeProto) -> bool:
        """Whether the node could be lifted; it reads lifted tensors."""
        try:
            nodes, picture = self._lift(node)
        except NotPossible:
            return False
        self.made.append((node, nodes))
        self.names[node.output[0]] = (nodes[-1].output[0], picture)
        return True

    def _lift(self, node: onnx.NodeProto) -> tuple[list[Any], Picture]:
        if len(node.output) > 1 and any(node.output[1:]):
            raise NotPossible("several results")
        first = next(name for name in node.input if name in self.names)
        value, picture = self.names[first]
        hint = f"{node.name}/4d"
        if node.op_type in _FUNCTIONS:
            rest = list(node.input)[1:]
            attributes = {a.name: self.edit.attribute(node, a.name) for a in node.attribute}
            return [self.edit.make(node.op_type, [value, *rest], hint, **attributes)], picture
        axis = self.edit.attribute(node, "axis", 1 if self.edit.opset < 13 else -1)
        if node.op_type == "Softmax" and picture[1:] == (1, 1) and axis in (1, -1):
            return [self.edit.make("Softmax", [value], hint, axis=1)], picture
        if node.op_type == "PRelu" and node.input[0] in self.names:
            return [self.edit.make("PRelu", self._two(node), hint)], picture
        if node.op_type in _TWO:
            return [self.edit.make(node.op_type, self._two(node), hint)], picture
        if node.op_type in ("Gemm", "MatMul"):
            return self._matrix(node, value, picture)
        raise NotPossible(node.op_type)

    def _two(self, node: onnx.NodeProto) -> list[str]:
        pictures = [self.names[name][1] for name in node.input if name in self.names]
        if any(picture != pictures[0] for picture in pictures):
            raise NotPossible("of different shapes")
        names = []
        for index, name in enumerate(node.input):
            if name in self.names:
                names.append(self.names[name][0])
                continue
            array = self.edit.given(node, index)
            if array is None or array.size not in (1, int(np.prod(pictures[0]))):
                raise NotPossible("its other input")
            array = array.reshape(1, *pictures[0]) if array.size > 1 else array.reshape(())
            names.append(self.edit.constant(array, f"{node.name}/constant"))
        return names

    def _matrix(
        self, node: onnx.NodeProto, value: str, picture: Picture
    ) -> tuple[list[Any], Picture]:
        weights = self.edit.given(node, 1)
        if weights is None or weights.ndim != 2 or node.input[0] not in self.names:
            raise NotPossible("its weights are computed, or not the second factor")
        get = self.edit.attribute
        if get(node, "transA", 0):
            raise NotPossible("transA")
        kernel = weights if get(node, "transB", 0) else weights.T
        if max(picture[1:]) > KERNEL or kernel.shape[1] != np.prod(picture):
            raise NotPossible(f"kernel {picture[1]} x {picture[2]}")
        hint = f"{node.name}/conv"
        kernel = kernel.reshape(len(kernel), *picture) * kernel.dtype.type(get(node, "alpha", 1.0))
        names = [value, self.edit.constant(kernel, f"{hint}/kernel")]
        if self.edit.input(node, 2):
            bias = self.edit.given(node, 2)
            if bias is None or bias.size not in (1, len(kernel)):
                raise NotPossible("its bias")
            full = np.broadcast_to(bias.reshape(-1), (len(kernel),))
            full = full * bias.dtype.type(get(node, "beta", 1.0))
            names.append(self.edit.constant(full, f"{hint}/bias"))
        self.matrices += 1
        return [self.edit.make("Conv", names, hint)], (len(kernel), 1, 1)


@rewrites("flatten-gemm", "Flatten", "Squeeze", "Reshape")
def flatten(edit: Edit, node: onnx.NodeProto) -> str:
    """Flatten, Squeeze or Reshape to a matrix, and what follows: convolutions over pictures.

    Results of the network become (N, C, 1, 1).
    """
    value = edit.varying(node)
    n, c, h, w = edit.picture(value)
    if edit.shape(node.output[0]) != (n, c * h * w):
        raise NotPossible("it makes no matrix of its pictures")
    result = node.output[0]
    if result in edit.results and not edit.readers(result):
        edit.remove(node)
        edit.outputs[result] = (n, c, h, w)
        return "nothing: the result keeps four dimensions"
    lifted = _Lifted(edit, {node.output[0]: (value, (c, h, w))})
    for other in list(edit.nodes):
        if any(name in lifted.names for name in other.input):
            lifted.take(other)
    ends = _ends(edit, lifted, {id(node), *(id(old) for old, _ in lifted.made)})
    if node.output[0] in ends or not lifted.made:
        raise NotPossible("something else reads the matrix that it makes")
    _put(edit, node, lifted, ends)
    fully = "fully connected layer" + "s" * (lifted.matrices != 1)
    return f"{lifted.matrices} {fully} as convolutions" if lifted.matrices else "four dimensions"


def _ends(edit: Edit, lifted: _Lifted, inside: set[int]) -> set[str]:
    """Matrices that somebody outside reads."""
    return {
        name
        for name in lifted.names
        if any(id(reader) not in inside for reader in edit.readers(name))
    }


def _put(edit: Edit, start: onnx.NodeProto, lifted: _Lifted, ends: set[str]) -> None:
    last = lifted.made[-1][0]
    for old, new in lifted.made:
        more = []
        result = old.output[0]
        value, picture = lifted.names[result]
        if result in edit.results:
            new[-1].output[0] = result
            _follow(lifted, value, result)
            edit.outputs[result] = (edit.shape(result)[0], *picture)
            if result in ends:
                raise NotPossible(_KEPT)
        elif result in ends:
            more = [edit.make("Flatten", [value], f"{old.name}/flat", [result], axis=1)]
        edit.put([start, old] if old is last else [old], [*new, *more])


def _follow(lifted: _Lifted, old: str, new: str) -> None:
    for _, nodes in lifted.made:
        for node in nodes:
            node.input[:] = [new if name == old else name for name in node.input]
