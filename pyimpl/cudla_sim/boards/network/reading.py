"""Reads a model: shapes of all tensors, constants folded, layers of the nodes that are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiler.errors import CompileError, Unsupported
from ...compiler.front import shapes as shapes_of_inputs
from ...compiler.front.constants import dequantized, evaluate
from ...compiler.front.inference import infer, refuse_fatal
from ...compiler.front.protos import array_of, domain_of, needed_nodes, read_constants, value_of
from ...compiler.front.reading import check_opsets, inlined, parsed, wanted_outputs
from ...compiler.front.tensors import Constant
from ..layers import Layer, Network, Shape, Tensor
from .call import Call, Item
from .converters import convert

if TYPE_CHECKING:
    import onnx

UNKNOWN = -1
"""A size that only the data decide."""
_RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli"}
_LARGEST_FOLD = 2**26
"""Elements of constants that are computed; larger ones are no shapes, and no rule asks them."""


def read(
    model: str | Path | onnx.ModelProto,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    outputs: Sequence[str] = (),
) -> Network:
    """The layers of an ONNX model.

    *shapes* fixes dynamic inputs by name; a dynamic first dimension is 1 otherwise. *outputs* cuts
    the network at these tensors. Raises CompileError for what is no model, or has open shapes.
    """
    proto, name = parsed(model)
    proto = inlined(proto)
    check_opsets(proto)
    constants = read_constants(proto.graph)
    fixed = shapes_of_inputs.fixed(proto, shapes or {})
    return _Reader(proto, constants).run(
        name or proto.graph.name or "network", fixed, wanted_outputs(proto, outputs)
    )


def items(proto: onnx.ModelProto) -> Mapping[str, Item]:
    """What each name of a model is: a constant, or a tensor with its shape.

    The shapes of its inputs must be fixed. Raises CompileError.
    """
    reader = _Reader(proto, read_constants(proto.graph))
    reader.run(proto.graph.name, shapes_of_inputs.fixed(proto, {}), wanted_outputs(proto, ()))
    return reader.items


class _Reader:
    def __init__(self, proto: onnx.ModelProto, constants: Mapping[str, Constant]) -> None:
        self._proto = proto
        self._opsets = {domain_of(o.domain): o.version for o in proto.opset_import}
        self._items: dict[str, Item] = dict(constants)
        self._layers: list[Layer] = []
        self._names: set[str] = set()

    def run(self, name: str, fixed: Mapping[str, Shape], wanted: Sequence[str]) -> Network:
        graph = self._proto.graph
        inputs = []
        for port in graph.input:
            if port.name not in self._items:
                dtype = _dtype(port.type)
                inputs.append(Tensor(port.name, tuple(fixed[port.name]), dtype))
                self._items[port.name] = inputs[-1]
        self._nodes(needed_nodes(graph, wanted, set(self._items)), self._items)
        ends = [self._items.get(name) for name in wanted]
        return Network(
            name=name,
            inputs=tuple(inputs),
            outputs=tuple(end for end in ends if isinstance(end, Tensor)),
            layers=tuple(self._layers),
        )

    def _nodes(self, nodes: Sequence[onnx.NodeProto], items: dict[str, Item]) -> None:
        for node in nodes:
            for name, item in zip(node.output, self._node(node, items), strict=False):
                if name:
                    items[name] = item

    def _node(self, node: onnx.NodeProto, items: dict[str, Item]) -> list[Item]:
        name = self._name(node)
        given = [items[name] if name else None for name in node.input]
        refuse_fatal(node)
        attributes = {a.name: value_of(a) for a in node.attribute}
        folded = self._folded(node, given, attributes)
        if folded is not None:
            return folded
        if node.op_type == "If" and isinstance(given[0], Constant) and given[0].array.size == 1:
            return self._branch(node, bool(given[0].array.reshape(-1)[0]), items)
        outputs = self._outputs(node, given)
        call = Call(
            operator=node.op_type,
            name=name,
            attributes=attributes,
            inputs=given,
            outputs=[item for item in outputs if isinstance(item, Tensor)],
            version=self._opsets.get(domain_of(node.domain), 1),
        )
        self._convert(call)
        return outputs

    def _convert(self, call: Call) -> None:
        if not call.tensors:
            call.add("FILL", [], call.outputs)  # a generator of numbers
        else:
            try:
                convert(call)
            except (LookupError, ValueError, TypeError, ZeroDivisionError) as error:
                raise CompileError(
                    f"node {call.name!r} ({call.operator}): its inputs and attributes do not fit "
                    f"({error}); repair the model"
                ) from None
        self._layers += call.layers

    def _name(self, node: onnx.NodeProto) -> str:
        wished = node.name or next((name for name in node.output if name), node.op_type)
        name, number = wished, 1
        while name in self._names:
            number += 1
            name = f"{wished}:{number}"
        self._names.add(name)
        return name

    @property
    def items(self) -> Mapping[str, Item]:
        return self._items

    # --- what is known before anything runs

    def _folded(
        self, node: onnx.NodeProto, given: list[Item], attributes: Mapping[str, Any]
    ) -> list[Item] | None:
        """The outputs of a node that needs no input's values."""
        first = given[0] if given else None
        if node.op_type in ("Shape", "Size") and isinstance(first, Tensor):
            if UNKNOWN in first.shape:
                return None
            sizes = np.array(first.shape, np.int64)
            begin, end = attributes.get("start", 0), attributes.get("end")
            return [Constant(sizes[begin:end] if node.op_type == "Shape" else sizes.prod())]
        if node.op_type in ("Identity", "Dropout") and isinstance(first, Constant):
            return [first]
        constants = [item for item in given if item is None or isinstance(item, Constant)]
        if len(constants) < len(given) or node.op_type in _RANDOM or domain_of(node.domain):
            return None
        if any(attribute.HasField("g") for attribute in node.attribute):
            return None
        if node.op_type == "DequantizeLinear":
            return [dequantized(attributes, constants)]
        if sum(item.array.size for item in constants if item) > _LARGEST_FOLD:
            return None
        try:
            return list(evaluate(node, constants, list(self._proto.opset_import)))
        except Unsupported as error:
            raise CompileError(f"node {node.name!r} ({node.op_type}): {error}") from None

    def _branch(
        self, node: onnx.NodeProto, condition: bool, items: Mapping[str, Item]
    ) -> list[Item]:
        wanted = "then_branch" if condition else "else_branch"
        branch = next(a.g for a in node.attribute if a.name == wanted)
        inner = dict(items)
        inner.update((tensor.name, Constant(array_of(tensor))) for tensor in branch.initializer)
        names = [port.name for port in branch.output]
        self._nodes(needed_nodes(branch, names, set(inner)), inner)
        return [inner[name] for name in names]

    # --- shapes

    def _outputs(self, node: onnx.NodeProto, given: list[Item]) -> list[Item]:
        """Tensors by ONNX's own rules; sizes that these leave open are UNKNOWN."""
        try:
            types = infer(node, given, list(self._proto.opset_import))
        except Unsupported as error:
            raise CompileError(f"node {node.name!r} ({node.op_type}): {error}") from None
        return [
            Tensor(name, _sizes(types.get(name)), _dtype(types.get(name))) if name else None
            for name in node.output
        ]


def _sizes(kind: onnx.TypeProto | None) -> Shape:
    if kind is None or not kind.tensor_type.HasField("shape"):
        return (UNKNOWN,)
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else UNKNOWN
        for dim in kind.tensor_type.shape.dim
    )


def _dtype(kind: onnx.TypeProto | None) -> str:
    from onnx import helper

    code = kind.tensor_type.elem_type if kind is not None else 0
    return np.dtype(helper.tensor_dtype_to_np_dtype(code)).name if code else "float32"
