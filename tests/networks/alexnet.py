"""AlexNet with groups and LRN, written with onnx.helper: torch has no LRN node to export."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.last = "data"

    def add(self, op: str, *constants: np.ndarray[Any, Any], **attributes: Any) -> None:
        number = len(self.nodes)
        names = [f"{op.lower()}{number}.{place}" for place in range(len(constants))]
        self.constants += [
            numpy_helper.from_array(array.astype(np.float32), name)
            for array, name in zip(constants, names, strict=True)
        ]
        output = f"{op.lower()}{number}"
        inputs = [self.last, *names]
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        self.last = output

    def weights(self, *shape: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        spread = np.sqrt(2 / np.prod(shape[1:]))
        return self.rng.normal(0, spread, shape), self.rng.normal(0, 0.05, shape[0])

    def conv(self, outputs: int, inputs: int, kernel: int, groups: int, **attributes: Any) -> None:
        pads = [kernel // 2 if kernel < 11 else 0] * 4
        weights = self.weights(outputs, inputs // groups, kernel, kernel)
        self.add("Conv", *weights, group=groups, pads=pads, **attributes)
        self.add("Relu")

    def pool(self) -> None:
        self.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2])


def alexnet_lrn(seed: int = 0) -> onnx.ModelProto:
    """227 x 227, opset 13."""
    net = _Writer(seed)
    normal = {"size": 5, "alpha": 1e-4, "beta": 0.75, "bias": 1.0}
    net.conv(96, 3, 11, 1, strides=[4, 4])
    net.add("LRN", **normal)
    net.pool()
    net.conv(256, 96, 5, 2)
    net.add("LRN", **normal)
    net.pool()
    net.conv(384, 256, 3, 1)
    net.conv(384, 384, 3, 2)
    net.conv(256, 384, 3, 2)
    net.pool()
    net.add("Flatten")
    for outputs, inputs in ((4096, 9216), (4096, 4096), (1000, 4096)):
        net.add("Gemm", *net.weights(outputs, inputs), transB=1)
        if outputs != 1000:
            net.add("Relu")
    graph = helper.make_graph(
        net.nodes,
        "alexnet_lrn",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT, [1, 3, 227, 227])],
        [helper.make_tensor_value_info(net.last, TensorProto.FLOAT, [1, 1000])],
        net.constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
