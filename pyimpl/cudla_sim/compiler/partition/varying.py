"""Tensors whose sizes depend on the data: what is chosen among boxes, where something is not zero.

Hardware has fixed sizes, so nodes that touch such tensors run on the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from .split import reads

if TYPE_CHECKING:
    import onnx

_SOURCES = ("NonMaxSuppression", "NonZero", "Unique", "Compress")

Shapes = Mapping[str, Sequence[int]]


def static_shapes(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Those that shape inference has found, and of constants."""
    found = {item.name: tuple(item.dims) for item in model.graph.initializer}
    for item in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        kind = item.type.tensor_type
        dims = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in kind.shape.dim]
        if kind.HasField("shape") and all(size >= 0 for size in dims):
            found[item.name] = tuple(dims)
    return found


def varying(model: onnx.ModelProto) -> set[str]:
    """The names of such tensors."""
    known, found = static_shapes(model), set[str]()
    for node in model.graph.node:
        depends = node.op_type in _SOURCES or any(name in found for name in reads(node))
        if depends:
            found.update(name for name in node.output if name and name not in known)
    return found


def largest(model: onnx.ModelProto, names: set[str]) -> dict[str, tuple[int, ...]]:
    """The largest shapes of tensors of *names*, where they can be told: what follows when as much
    as possible is chosen."""
    from onnx import ModelProto, helper, shape_inference

    if not names:
        return {}
    shapes, bounds = static_shapes(model), {}
    for node in model.graph.node:
        bound = _bound(model, node, shapes)
        if bound is not None and node.output[0] in names:
            bounds[node.output[0]] = bound
    wider = ModelProto()
    wider.CopyFrom(model)
    fields = (wider.graph.value_info, wider.graph.output)
    kinds = {item.name: item for field in fields for item in field}
    for name, bound in bounds.items():
        if name in kinds:
            element = kinds[name].type.tensor_type.elem_type
            kinds[name].CopyFrom(helper.make_tensor_value_info(name, element, bound))
    try:
        found = static_shapes(shape_inference.infer_shapes(wider, data_prop=True))
    except (shape_inference.InferenceError, ValueError, RuntimeError):
        found = {}
    return {name: found.get(name, bounds.get(name, ())) for name in names if name in found}


def _bound(model: onnx.ModelProto, node: onnx.NodeProto, shapes: Shapes) -> tuple[int, int] | None:
    try:
        if node.op_type == "NonZero":
            return len(shapes[node.input[0]]), prod(shapes[node.input[0]])
        if node.op_type == "NonMaxSuppression":
            batch, classes, boxes = shapes[node.input[1]]
            count = _number(model, node.input[2]) if len(node.input) > 2 else 0
            return None if count is None else (batch * classes * min(count, boxes), 3)
    except (KeyError, ValueError):
        return None
    return None


def _number(model: onnx.ModelProto, name: str) -> int | None:
    """A constant of one element."""
    from onnx import numpy_helper

    stored = [item for item in model.graph.initializer if item.name == name]
    stored += [
        attribute.t
        for node in model.graph.node
        if node.op_type == "Constant" and name in node.output
        for attribute in node.attribute
        if attribute.name == "value"
    ]
    array = numpy_helper.to_array(stored[0]) if stored else None
    return int(array.ravel()[0]) if array is not None and array.size == 1 else None
