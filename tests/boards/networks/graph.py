"""Writes an ONNX model node by node, and knows the shape of every tensor."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR = 17, 8


class Graph:
    """Tensors are called by their names; ``shape[name]`` is N, C, H, W."""

    def __init__(self, name: str, shape: Sequence[int]) -> None:
        self.name = name
        self.input = "input"
        self.shape: dict[str, tuple[int, ...]] = {"input": tuple(shape)}
        self.macs = 0
        """Of convolutions and fully connected layers, for all pictures."""
        self.scope = ""
        """What names of nodes begin with."""
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, values: np.ndarray) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(values, name))
        return name

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        shape: Sequence[int],
        name: str = "",
        **attributes: object,
    ) -> str:
        """A node of one output."""
        result = name or f"{self.scope}{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [result], result, **attributes))
        self.shape[result] = tuple(shape)
        return result

    def conv(
        self,
        x: str,
        maps: int,
        kernel: int = 3,
        stride: int = 1,
        pad: int | None = None,
        groups: int = 1,
        act: str = "",
        name: str = "",
    ) -> str:
        """A convolution with bias (batch normalisation is folded), padded to keep its size."""
        n, c, h, w = self.shape[x]
        pad = kernel // 2 if pad is None else pad
        rows, columns = ((size + 2 * pad - kernel) // stride + 1 for size in (h, w))
        taps = self.constant(np.zeros((maps, c // groups, kernel, kernel), np.float32))
        bias = self.constant(np.zeros(maps, np.float32))
        self.macs += n * maps * rows * columns * c // groups * kernel**2
        y = self.node(
            "Conv", [x, taps, bias], (n, maps, rows, columns), name, strides=[stride] * 2,
            pads=[pad] * 4, group=groups, kernel_shape=[kernel] * 2,
        )  # fmt: skip
        return self.act(y, act)

    def act(self, x: str, kind: str) -> str:
        """ "relu", "relu6", "silu", "leaky", "mish" or nothing."""
        shape = self.shape[x]
        if kind == "silu":
            return self.node("Mul", [x, self.node("Sigmoid", [x], shape)], shape)
        if kind == "mish":
            soft = self.node("Softplus", [x], shape)
            return self.node("Mul", [x, self.node("Tanh", [soft], shape)], shape)
        if kind == "relu6":
            ends = [self.constant(np.array(value, np.float32)) for value in (0, 6)]
            return self.node("Clip", [x, *ends], shape)
        if kind == "leaky":
            return self.node("LeakyRelu", [x], shape, alpha=0.1)
        return self.node("Relu", [x], shape) if kind else x

    def pool(
        self,
        x: str,
        kernel: int,
        stride: int,
        pad: int = 0,
        average: bool = False,
        up: bool = False,
    ) -> str:
        n, c, h, w = self.shape[x]
        sizes = [size + 2 * pad - kernel for size in (h, w)]
        rows, columns = (-(-size // stride) + 1 if up else size // stride + 1 for size in sizes)
        return self.node(
            "AveragePool" if average else "MaxPool", [x], (n, c, rows, columns),
            kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, ceil_mode=int(up),
        )  # fmt: skip

    def add(self, a: str, b: str, act: str = "") -> str:
        return self.act(self.node("Add", [a, b], self.shape[a]), act)

    def concat(self, *parts: str) -> str:
        n, _, h, w = self.shape[parts[0]]
        channels = sum(self.shape[part][1] for part in parts)
        return self.node("Concat", parts, (n, channels, h, w), axis=1)

    def up(self, x: str) -> str:
        """Twice the size, nearest neighbours."""
        n, c, h, w = self.shape[x]
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        return self.node(
            "Resize", [x, "", scales], (n, c, 2 * h, 2 * w), mode="nearest",
            coordinate_transformation_mode="asymmetric", nearest_mode="floor",
        )  # fmt: skip

    def channels(self, x: str, begin: int, end: int) -> str:
        """A slice of the channels."""
        n, _, h, w = self.shape[x]
        given = [self.constant(np.array([value], np.int64)) for value in (begin, end, 1, 1)]
        return self.node("Slice", [x, *given], (n, end - begin, h, w))

    def reshape(self, x: str, *shape: int) -> str:
        assert prod(shape) == prod(self.shape[x])
        return self.node("Reshape", [x, self.constant(np.array(shape, np.int64))], shape)

    def transpose(self, x: str, *order: int) -> str:
        return self.node("Transpose", [x], [self.shape[x][axis] for axis in order], perm=order)

    def full(self, x: str, maps: int) -> str:
        """The global average, flattened, and a fully connected layer."""
        n, c = self.shape[x][:2]
        flat = self.node("Flatten", [self.node("GlobalAveragePool", [x], (n, c, 1, 1))], (n, c))
        weights = self.constant(np.zeros((maps, c), np.float32))
        self.macs += n * c * maps
        return self.node("Gemm", [flat, weights], (n, maps), transB=1)

    def model(self, *outputs: str) -> onnx.ModelProto:
        def port(name: str) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape[name])

        graph = helper.make_graph(
            self._nodes, self.name, [port(self.input)], [port(name) for name in outputs],
            self._constants,
        )  # fmt: skip
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=IR)
