"""What a model's protobuf holds: constants, attributes, nodes in an order that works."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CompileError
from .tensors import Constant

if TYPE_CHECKING:
    import onnx


def read_constants(graph: onnx.GraphProto) -> dict[str, Constant]:
    """The initialisers by name. Raises CompileError, for names that stand for two things, too."""
    for sparse in graph.sparse_initializer:
        raise CompileError(f"constant {sparse.values.name!r} is sparse; store it dense")
    for kind, names in (
        ("constants", [tensor.name for tensor in graph.initializer]),
        ("inputs", [port.name for port in graph.input]),
        ("outputs", [port.name for port in graph.output]),
        ("results of nodes", [name for node in graph.node for name in node.output if name]),
    ):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise CompileError(f"two {kind} are called {twice[0]!r}; names must be unique")
    return {tensor.name: Constant(array_of(tensor)) for tensor in graph.initializer}


def domain_of(name: str) -> str:
    return "" if name == "ai.onnx" else name


def array_of(tensor: onnx.TensorProto) -> np.ndarray[Any, Any]:
    from onnx import numpy_helper

    if any(size < 0 for size in tensor.dims):
        raise CompileError(f"constant {tensor.name!r} has the shape {list(tensor.dims)}")
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError) as error:
        raise CompileError(f"constant {tensor.name!r} is broken: {error}") from None


def value_of(attribute: onnx.AttributeProto) -> Any:
    from onnx import AttributeProto, helper

    value = helper.get_attribute_value(attribute)
    if attribute.type == AttributeProto.STRING:
        return value.decode("utf-8", "replace")
    if attribute.type == AttributeProto.TENSOR:
        return array_of(value)
    if attribute.type in (AttributeProto.INTS, AttributeProto.FLOATS):
        return list(value)
    return value


def needed_nodes(
    graph: onnx.GraphProto, wanted: Sequence[str], known: set[str]
) -> list[onnx.NodeProto]:
    """The nodes that *wanted* depend on, in an order in which they can be computed.

    Raises CompileError for cycles and for names that nothing computes.
    """
    maker = {name: i for i, node in enumerate(graph.node) for name in node.output if name}
    needs: dict[int, set[int]] = {}
    queue = [maker[name] for name in wanted if name in maker]
    while queue:
        index = queue.pop()
        if index in needs:
            continue
        node = graph.node[index]
        needs[index] = set()
        for name in read_by(node):
            if name in maker and name not in known:
                needs[index].add(maker[name])
                queue.append(maker[name])
            elif name not in known:
                raise CompileError(
                    f"{node.op_type} {node.name or node.output[0]!r} reads {name!r}, which no node "
                    "computes"
                )
    ordered = all(before < index for index, those in needs.items() for before in those)
    if ordered:
        return [graph.node[index] for index in sorted(needs)]
    try:
        return [graph.node[index] for index in TopologicalSorter(needs).static_order()]
    except CycleError as error:
        circle = [graph.node[index] for index in error.args[1]]
        names = " -> ".join(node.name or node.output[0] for node in circle)
        raise CompileError(f"the model has a cycle: {names}") from None


def read_by(node: onnx.NodeProto) -> set[str]:
    """Names that a node reads from the graph around it, those of its branches included."""
    found = {name for name in node.input if name}
    for attribute in node.attribute:
        graphs = [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
        for graph in graphs:
            own = {t.name for t in graph.initializer} | {p.name for p in graph.input}
            own |= {name for inner in graph.node for name in inner.output}
            inside = {name for inner in graph.node for name in read_by(inner)}
            inside |= {port.name for port in graph.output}
            found |= inside - own
    return found
