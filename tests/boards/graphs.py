"""Small ONNX models for the rules of boards: one node, or a row of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Input = "tuple[int, ...] | np.ndarray[Any, Any] | str | None"
"""A shape makes an input of the network, an array a constant, a name reads an earlier result."""


class Graph:
    """Nodes one behind the other; ``model()`` makes the model of what nobody read."""

    def __init__(self, opset: int = 17) -> None:
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._read: set[str] = set()

    def input(self, shape: Sequence[int | str], name: str = "", kind: Any = np.float32) -> str:
        name = name or f"x{len(self.inputs)}"
        code = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        self.inputs.append(helper.make_tensor_value_info(name, code, list(shape)))
        return name

    def constant(self, array: Any, name: str = "") -> str:
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op: str, *given: Any, outputs: int = 1, name: str = "", **attributes: Any) -> str:
        names = []
        for item in given:
            if item is None:
                names.append("")
            elif isinstance(item, str):
                names.append(item)
            elif isinstance(item, tuple):
                names.append(self.input(item))
            else:
                names.append(self.constant(item))
        self._read.update(names)
        name = name or f"{op}_{len(self.nodes)}"
        results = [f"{name}.{i}" if outputs > 1 else f"{name}.out" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, results, name=name, **attributes))
        return results[0]

    def model(self, *outputs: str, kinds: dict[str, Any] | None = None) -> onnx.ModelProto:
        made = [name for node in self.nodes for name in node.output]
        ends = list(outputs) or [name for name in made if name not in self._read]
        ports = [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(np.dtype((kinds or {}).get(name, np.float32))),
                None,
            )
            for name in ends
        ]
        graph = helper.make_graph(self.nodes, "net", self.inputs, ports, self.constants)
        opset = helper.make_opsetid("", self.opset)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
        if kinds:
            return model
        for port in model.graph.output:  # types follow from the nodes
            port.type.tensor_type.elem_type = TensorProto.UNDEFINED
        known = onnx.shape_inference.infer_shapes(model)
        del known.graph.value_info[:]
        return known


def single(op: str, *given: Any, opset: int = 17, outputs: int = 1, **attributes: Any) -> Any:
    """The model of one node."""
    graph = Graph(opset)
    graph.add(op, *given, outputs=outputs, **attributes)
    return graph.model()


def ones(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


def ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int64)


def convolution(
    x: tuple[int, ...] = (1, 8, 16, 16),
    maps: int = 8,
    kernel: tuple[int, int] = (3, 3),
    groups: int = 1,
    **attributes: Any,
) -> Any:
    """A model of one convolution."""
    return single("Conv", x, ones(maps, x[1] // groups, *kernel), group=groups, **attributes)
