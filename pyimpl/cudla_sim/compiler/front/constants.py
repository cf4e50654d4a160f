"""Folding: what depends on constants only is computed while the model is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from cudla_sim.nvdla.facts.precisions import INT8_TOP

from ..errors import Unsupported
from .tensors import Constant

if TYPE_CHECKING:
    import onnx

LARGEST = 2**31
"""Bytes of one constant; protobuf has the same limit for a model."""
_KEEPS_STEPS = {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Cast", "CastLike"}


def evaluate(
    node: onnx.NodeProto,
    inputs: Sequence[Constant | None],
    opsets: Sequence[onnx.OperatorSetIdProto],
) -> list[Constant]:
    """The node's outputs by the ONNX reference implementation. Raises Unsupported."""
    _refuse_gigantic(node, inputs)
    if node.op_type == "DequantizeLinear" and not node.domain:
        return [dequantized({a.name: a.i for a in node.attribute}, inputs)]
    if node.op_type == "GatherElements" and not node.domain:
        return [_gathered({a.name: a.i for a in node.attribute}, inputs)]
    from onnx.reference import ReferenceEvaluator

    names = [name for name, item in zip(node.input, inputs, strict=True) if item is not None]
    feeds = {n: i.array for n, i in zip(node.input, inputs, strict=True) if i is not None}
    try:
        session = ReferenceEvaluator(_model(node, names, opsets))
        results = session.run(None, feeds)
    except Exception as error:  # the reference raises whatever numpy does
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Unsupported(f"it cannot be computed from its constants: {text}") from None
    if any(not isinstance(result, (np.ndarray, np.generic)) for result in results):
        raise Unsupported("it makes a sequence or an optional", "export tensors only")
    steps, axis = _steps_after(node, inputs)
    return [Constant(np.asarray(result), steps, axis) for result in results]


def _model(
    node: onnx.NodeProto, names: list[str], opsets: Sequence[onnx.OperatorSetIdProto]
) -> onnx.ModelProto:
    from onnx import helper

    inputs = [helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(names)]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = helper.make_graph([node], "one", inputs, outputs)
    return helper.make_model(graph, opset_imports=list(opsets))


def _refuse_gigantic(node: onnx.NodeProto, inputs: Sequence[Constant | None]) -> None:
    size = 0
    if node.op_type == "ConstantOfShape" and inputs and inputs[0] is not None:
        size = prod(inputs[0].ints())
    elif node.op_type in ("Expand", "Tile") and len(inputs) > 1 and inputs[1] is not None:
        first = inputs[0].array.size if inputs[0] is not None else 1
        size = prod(inputs[1].ints()) * (first if node.op_type == "Tile" else 1)
    elif node.op_type == "Range" and all(item is not None for item in inputs):
        numbers = [float(item.array.reshape(-1)[0]) for item in inputs if item and item.array.size]
        if len(numbers) == 3 and numbers[2]:
            size = int((numbers[1] - numbers[0]) / numbers[2])
    if size * 4 > LARGEST:
        raise Unsupported(
            f"its constant has {size} elements", f"constants are limited to {LARGEST} bytes"
        )


def _steps_after(
    node: onnx.NodeProto, inputs: Sequence[Constant | None]
) -> tuple[np.ndarray | None, int]:
    """What a node that moves data does to the steps of quantised weights."""
    first = inputs[0] if inputs else None
    if first is None or first.steps is None:
        return None, 0
    if first.steps.size == 1 and node.op_type in {*_KEEPS_STEPS, "Transpose"}:
        return first.steps, 0
    if node.op_type == "Identity":
        return first.steps, first.axis
    if node.op_type == "Transpose":
        order = next((list(a.ints) for a in node.attribute if a.name == "perm"), None)
        order = order if order is not None else list(range(first.array.ndim))[::-1]
        return first.steps, order.index(first.axis)
    return None, 0


def _gathered(attributes: Mapping[str, int], inputs: Sequence[Constant | None]) -> Constant:
    """GatherElements. The reference's numpy.choose counts a far index down step by step."""
    data, indices, *_ = (*inputs, None, None)
    if data is None or indices is None:
        raise Unsupported("data or indices are missing")
    shape, wanted = data.array.shape, indices.array
    axis = attributes.get("axis", 0)
    axis += len(shape) if axis < 0 else 0
    others = [n for n in range(len(shape)) if n != axis]
    if (
        wanted.dtype.kind not in "iu"
        or wanted.ndim != len(shape)
        or len(others) == len(shape)
        or any(wanted.shape[n] > shape[n] for n in others)
    ):
        raise Unsupported(
            f"axis {axis}, indices of {wanted.dtype} {wanted.shape} for data of {shape}"
        )
    if not np.all((wanted >= -shape[axis]) & (wanted < shape[axis])):
        raise Unsupported(f"its indices are not in -{shape[axis]}..{shape[axis] - 1}")
    places = list(np.ogrid[tuple(map(slice, wanted.shape))])
    places[axis] = wanted
    return Constant(data.array[tuple(places)])


def dequantized(attributes: Mapping[str, int], inputs: Sequence[Constant | None]) -> Constant:
    """Real numbers of a quantised constant; they remember their steps where those fit int8."""
    x, scale, zero, *_ = (*inputs, None, None, None)
    if x is None or scale is None:
        raise Unsupported("x or x_scale is missing")
    if attributes.get("block_size"):
        raise Unsupported("blocked quantisation", "quantise per tensor or per axis")
    axis = attributes.get("axis", 1)
    axis = axis + x.array.ndim if axis < 0 else axis
    steps = scale.array.astype(np.float64)
    offset = np.zeros((), np.int64) if zero is None else zero.array.astype(np.int64)
    if steps.size > 1:
        shape = [1] * x.array.ndim
        shape[axis] = steps.size
        spread, offset = steps.reshape(shape), offset.reshape(shape if offset.size > 1 else ())
    else:
        spread, offset = steps.reshape(()), offset.reshape(())
    whole = x.array.astype(np.int64) - offset
    real = (whole * spread).astype(np.float32)
    small = whole.size == 0 or bool(
        (np.abs(whole) <= INT8_TOP + 1).all() and whole.max() <= INT8_TOP
    )
    if not small or x.array.dtype.itemsize > 1:
        return Constant(real)
    return Constant(real, steps.reshape(-1), axis if steps.size > 1 else 0)
