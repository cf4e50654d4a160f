"""Goes through the nodes of a model in order: folds what is constant, converts the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..errors import CompileError, Refusal, Unsupported
from ..graph import Graph, Port, Value
from . import inputs, operators
from .builder import Builder, layouts
from .constants import evaluate
from .inference import check_inputs, infer, sizes
from .nodes import LARGEST_VALUE
from .operators import Call
from .operators.registry import ON_INTEGERS, Converted
from .protos import array_of, domain_of, needed_nodes, read_by, value_of
from .shapes import dynamic
from .tensors import Constant, Item, Several, Tensor

if TYPE_CHECKING:
    import onnx

_RUN_TIME = {"NonZero", "NonMaxSuppression", "TopK", "Unique", "Compress", "Multinomial"}
_RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli"}
_KNOWN_DOMAINS = {"", "com.microsoft"}
Known = Item | Several | None
"""What a name stands for; None where that is unknown after a refusal."""
_OF_WRONG_MODELS = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)
"""What arithmetic on shapes and attributes raises where ONNX's rules leave a contradiction open."""


class Walker:
    """One reading of a model. *wanted* are the tensors that the network computes."""

    def __init__(
        self,
        proto: onnx.ModelProto,
        constants: Mapping[str, Constant],
        wanted: Sequence[str],
        shapes: Mapping[str, tuple[int, ...]],
        layouts: Mapping[str, inputs.Layout],
    ) -> None:
        self.proto = proto
        self.wanted = list(wanted)
        self.build = Builder()
        self._shapes = shapes
        self._layouts = layouts
        self._opsets = {domain_of(o.domain): o.version for o in proto.opset_import}
        self._items: dict[str, Known] = dict(constants)
        self._ports: list[Port] = []
        self._ends: list[Value] = []
        self._read = set(self.wanted)

    def run(self) -> Walker:
        """Reads everything; refusals collect in ``build``."""
        graph = self.proto.graph
        self._inputs(graph)
        needed = needed_nodes(graph, self.wanted, set(self._items))
        self._nodes(needed, self._items)
        self._outputs(graph)
        return self

    def graph(self, name: str) -> Graph:
        """What has been read."""
        build = self.build
        zeros = build.zero_points
        if zeros:
            build.note(
                f"{len(zeros)} quantised tensors have zero points or unsigned integers and get "
                f"symmetric scales of the same range: {', '.join(zeros[:3])}"
                + (", ..." if len(zeros) > 3 else "")
            )
        ends = [Port(name=v.name, shape=v.shape, value=v) for v in dict.fromkeys(self._ends)]
        return Graph(
            inputs=build.inputs,
            outputs=[*self._ports, *ends],
            nodes=build.nodes,
            name=name,
            notes=build.notes,
            precise=set(build.precise),
            refusals=build.refusals,
            ends=ends,
        )

    # --- the edges of the network

    def _inputs(self, graph: onnx.GraphProto) -> None:
        for port in graph.input:
            if port.name in self._items:
                continue
            shape = self._shapes[port.name]
            dims = port.type.tensor_type.shape.dim
            if dims and dynamic(dims[0]):
                self.build.note(f"input {port.name!r}: its batch is fixed to {shape[0]}")
            dtype = inputs.element_type(port)
            layout = self._layouts[port.name]
            if prod(shape) > LARGEST_VALUE:
                raise CompileError(
                    f"input {port.name!r} has {prod(shape)} elements; {LARGEST_VALUE} are possible"
                )
            try:
                self._items[port.name] = inputs.bind(self.build, port.name, shape, layout, dtype)
            except Unsupported as error:
                raise CompileError(f"input {port.name!r}: {error.reason}") from None

    def _outputs(self, graph: onnx.GraphProto) -> None:
        for name in self.wanted:
            if name not in self._items:
                raise CompileError(f"output {name!r} is computed by no node")
            item = self._items[name]
            if item is None:
                continue  # refused before
            if isinstance(item, Constant):
                self.build.note(f"output {name!r} is constant and left out")
                continue
            if isinstance(item, Several):
                raise CompileError(f"output {name!r} is a sequence; only tensors can be computed")
            self._ports.append(inputs.output(self.build, name, item, item.dtype))
        if not self._ports and not self.build.refusals:
            raise CompileError("all outputs are constant: nothing depends on an input")
        used = {value for node in self.build.nodes for value in node.inputs}
        used |= {port.value for port in self._ports}
        for port in self.build.inputs:
            if port.value not in used and not self.build.refusals:
                self.build.note(f"input {port.name!r} is not used and left out")
        if not self.build.refusals:
            self.build.inputs = [port for port in self.build.inputs if port.value in used]

    # --- nodes

    def _nodes(self, nodes: Sequence[onnx.NodeProto], items: dict[str, Known]) -> None:
        self._read.update(name for node in nodes for name in read_by(node))
        for node in nodes:
            outputs = self._node(node, items)
            for name, item in zip(node.output, outputs, strict=False):
                if name:
                    items[name] = item
            for name in node.output[len(outputs) :]:
                items.setdefault(name, None)

    def _node(self, node: onnx.NodeProto, items: dict[str, Known]) -> list[Known]:
        build = self.build
        first = next((name for name in node.output if name), "")
        build.node, build.target = node.name or first, first
        given = [items[name] if name else None for name in node.input]
        broken = any(name and items[name] is None for name in node.input)
        key = domain_of(node.domain), node.op_type
        if broken:  # what made its input unknown has been refused
            if operators.converter(*key) is None and node.op_type != "If":
                self._refuse(node, *_why_unknown(node))
            return [None] * len(node.output)
        count = len(build.nodes)
        try:
            if node.op_type == "If" and not key[0]:
                return self._if(node, given, items)
            return list(self._converted(node, given))
        except Unsupported as error:
            build.forget(count)
            self._refuse(node, error.reason, error.cure)
            self._ends += [item.view.value for item in given if isinstance(item, Tensor)]
            return self._stand_ins(node, given)

    def _refuse(self, node: onnx.NodeProto, reason: str, cure: str) -> None:
        refusal = Refusal(self.build.node, node.op_type, reason, cure)
        if refusal not in self.build.refusals:
            self.build.refusals.append(refusal)

    def _converted(self, node: onnx.NodeProto, given: list[Known]) -> Iterable[Known]:
        key = domain_of(node.domain), node.op_type
        constants = [item for item in given if item is None or isinstance(item, Constant)]
        folds = len(constants) == len(given) and key[0] == "" and node.op_type not in _RANDOM
        opsets = list(self.proto.opset_import)
        if folds and not any(attribute.HasField("g") for attribute in node.attribute):
            try:
                return evaluate(node, constants, opsets)
            except _OF_WRONG_MODELS as error:
                raise _contradiction(error) from None
        converter = operators.converter(*key)
        if converter is None:
            raise Unsupported(*_why_unknown(node))
        check_inputs(node, opsets)
        if node.op_type not in ON_INTEGERS:
            _refuse_integers(given)
        try:
            result: Converted = converter(self._call(node, given))
        except _OF_WRONG_MODELS as error:
            infer(node, given, opsets)  # it may know better what is wrong
            raise _contradiction(error) from None
        infer(node, given, opsets)
        found = result if isinstance(result, list) else [result]
        for item in found:
            if isinstance(item, Tensor) and item.quantized and item.view.value.scale is None:
                item.view.value.scale = item.quantized.step()
        return found

    def _call(self, node: onnx.NodeProto, given: list[Known]) -> Call:
        domain = domain_of(node.domain)
        return Call(
            op=node.op_type,
            domain=domain,
            name=self.build.node,
            attributes={a.name: value_of(a) for a in node.attribute},
            inputs=given,
            outputs=list(node.output),
            read=self._read,
            version=self._opsets.get(domain, 1),
            build=self.build,
        )

    def _if(self, node: onnx.NodeProto, given: list[Known], items: dict[str, Known]) -> list[Known]:
        condition = given[0] if given else None
        if not isinstance(condition, Constant):
            raise Unsupported("its condition is computed at run time")
        if condition.array.size != 1:
            raise Unsupported(
                f"its condition has {condition.array.size} elements, not one", "repair the model"
            )
        wanted = "then_branch" if bool(condition.array.reshape(-1)[0]) else "else_branch"
        branch = next((a.g for a in node.attribute if a.name == wanted), None)
        if branch is None:
            raise Unsupported(f"its {wanted} is missing", "repair the model")
        inner = dict(items)
        for tensor in branch.initializer:
            inner[tensor.name] = Constant(array_of(tensor))
        names = [port.name for port in branch.output]
        self._read.update(names)
        self._nodes(needed_nodes(branch, names, set(inner)), inner)
        return [inner[name] for name in names]

    def _stand_ins(self, node: onnx.NodeProto, given: Sequence[Known]) -> list[Known]:
        """Tensors of the right shapes for a refused node, so that those behind it are checked."""
        if not any(isinstance(item, Tensor) for item in given):
            return [None] * len(node.output)  # a constant
        try:
            types = infer(node, given, list(self.proto.opset_import))
        except Exception:  # nothing can be said about what follows
            return [None] * len(node.output)
        return [self._stand_in(name, types.get(name)) for name in node.output]

    def _stand_in(self, name: str, kind: onnx.TypeProto | None) -> Tensor | None:
        shape = sizes(kind)
        if shape is None:
            return None
        layout = inputs.Layout(tuple(tuple(group) for group in layouts(shape)[0]))
        view = layout.view(self.build, name, shape)
        value = view.value
        self.build.inputs.append(Port(name=value.name, shape=value.shape, value=value))
        return Tensor(view)


def _refuse_integers(given: Sequence[Known]) -> None:
    for item in given:
        if not isinstance(item, Tensor):
            continue
        if item.quantized is not None:
            raise Unsupported(
                "it computes with quantised integers", "put a DequantizeLinear before it"
            )
        if not np.dtype(item.dtype).kind == "f" and item.dtype != "bfloat16":
            raise Unsupported(
                f"it computes with elements of type {item.dtype}", "export it with float32"
            )


def _contradiction(error: Exception) -> Unsupported:
    text = " ".join(str(error).split())[:200] or type(error).__name__
    return Unsupported(f"its inputs and attributes do not fit ({text})", "repair the model")


def _why_unknown(node: onnx.NodeProto) -> tuple[str, str]:
    op = node.op_type
    if domain_of(node.domain) not in _KNOWN_DOMAINS:
        why = f"operators of the domain {node.domain!r} are unknown"
        return why, "export with ONNX's own operators"
    if op in ("Loop", "Scan"):
        return "loops cannot be compiled", "unroll it when exporting"
    if op in _RUN_TIME:
        return "its result's shape or order depends on the data", ""
    if op.startswith("Sequence") or op in ("SplitToSequence", "ConcatFromSequence"):
        return "sequences cannot be compiled", "export tensors only"
    return "the hardware has no operation for it", ""
