"""What ONNX's own rules say of one node: its attributes, its number of inputs, its shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import Unsupported
from .protos import domain_of
from .tensors import Constant, Several

if TYPE_CHECKING:
    import onnx


class Typed(Protocol):
    """A constant, or a tensor of anyone's who reads models; a negative size is not known."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any] | str: ...


_SMALL = 1024
"""Elements of constants whose values inference may need: shapes, axes, pads."""


def infer(
    node: onnx.NodeProto,
    given: Sequence[Typed | Several | None],
    opsets: Sequence[onnx.OperatorSetIdProto],
) -> Mapping[str, onnx.TypeProto]:
    """Types of the outputs as far as ONNX can tell: none of sequences, none of unknown operators.

    Raises Unsupported for a node that breaks the operator's rules.
    """
    import onnx

    versions = {domain_of(opset.domain): opset.version for opset in opsets}
    if any(isinstance(item, Several) for item in given):
        return {}
    try:
        version = versions.get(domain_of(node.domain), 1)
        schema = onnx.defs.get_schema(node.op_type, version, domain_of(node.domain))
    except onnx.defs.SchemaError:
        return {}
    types: dict[str, onnx.TypeProto] = {}
    data: dict[str, onnx.TensorProto] = {}
    for name, item in zip(node.input, given, strict=True):
        if item is None or isinstance(item, Several) or min(item.shape, default=0) < 0:
            continue
        types[name] = onnx.helper.make_tensor_type_proto(_code(item.dtype), item.shape)
        if isinstance(item, Constant) and item.array.size < _SMALL:
            data[name] = onnx.numpy_helper.from_array(item.array, name)
    refuse_fatal(node)
    try:
        return onnx.shape_inference.infer_node_outputs(
            schema, node, types, data, opset_imports=list(opsets)
        )
    except (
        onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError
    ) as error:  # fmt: skip  # ValueError: an attribute whose tensor has no type
        text = " ".join(str(error).split()).replace("[ShapeInferenceError] ", "")
        raise Unsupported(f"it breaks ONNX's rules: {text[:200]}", "repair the model") from None


def check_inputs(node: onnx.NodeProto, opsets: Sequence[onnx.OperatorSetIdProto]) -> None:
    """Raises Unsupported for a node with more inputs than its operator has: those who read it
    count on what the first ones are."""
    import onnx

    versions = {domain_of(opset.domain): opset.version for opset in opsets}
    domain = domain_of(node.domain)
    try:
        most = onnx.defs.get_schema(node.op_type, versions.get(domain, 1), domain).max_input
    except onnx.defs.SchemaError:
        return
    if len(node.input) > most:
        raise Unsupported(
            f"it has {len(node.input)} inputs; {most} are possible", "repair the model"
        )


def refuse_fatal(node: onnx.NodeProto) -> None:
    """Raises Unsupported for attributes that many releases of onnx divide or count by without a
    look: the process would end."""
    for attribute in node.attribute:
        values = [attribute.i] if attribute.name == "group" else attribute.ints
        if attribute.name in ("strides", "group") and 0 in values:
            raise Unsupported(f"its {attribute.name} is 0", "repair the model")
        if attribute.name == "num_outputs" and attribute.i != len(node.output):
            raise Unsupported(
                f"its num_outputs is {attribute.i}, and it has {len(node.output)} outputs",
                "repair the model",
            )


def sizes(kind: onnx.TypeProto | None) -> list[int] | None:
    """A shape that is known in all its dimensions, and has elements."""
    if kind is None or not kind.tensor_type.HasField("shape"):
        return None
    found = [size.dim_value for size in kind.tensor_type.shape.dim]
    return found if all(size > 0 for size in found) else None


def _code(dtype: np.dtype[np.generic] | str) -> int:
    import onnx

    if dtype == "bfloat16" or np.dtype(dtype).kind == "f":
        return int(onnx.TensorProto.FLOAT)  # mixtures of real types are taken
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
