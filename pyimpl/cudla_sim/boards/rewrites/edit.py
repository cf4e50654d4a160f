"""A model while it is rewritten: nodes that come and go, constants, shapes of all tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...compiler.front.protos import domain_of, read_by, value_of
from ...compiler.front.tensors import Constant
from ..layers import Tensor
from ..network.call import Item
from ..network.reading import UNKNOWN, items

if TYPE_CHECKING:
    import onnx

Array = NDArray[Any]


class NotPossible(Exception):
    """Why a rewrite does not fit a node."""


@dataclass
class Edit:
    """*nodes* in graph order, *constants* by name, *tensors*: what each name is before the edit.

    *outputs*: results of the network whose shape a rewrite changes, by name. *scales* of tensors
    whose Q/DQ were taken out. *source* is never changed.
    """

    source: onnx.ModelProto
    nodes: list[onnx.NodeProto]
    constants: dict[str, Array | onnx.TensorProto]
    tensors: Mapping[str, Item]
    outputs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)

    @staticmethod
    def of(model: onnx.ModelProto) -> Edit:
        """Of a model whose inputs have fixed shapes, and whose nodes have names."""
        constants: dict[str, Array | onnx.TensorProto] = {}
        constants.update((tensor.name, tensor) for tensor in model.graph.initializer)
        return Edit(model, list(model.graph.node), constants, items(model))

    def fold(self) -> int:
        """Constants take the place of nodes that compute nothing else; returns how many."""
        kept = []
        for node in self.nodes:
            found = {name: self.tensors.get(name) for name in node.output if name}
            if self.results.isdisjoint(found) and all(
                isinstance(item, Constant) for item in found.values()
            ):
                self.constants.update(
                    (n, item.array) for n, item in found.items() if isinstance(item, Constant)
                )
            else:
                kept.append(node)
        folded = len(self.nodes) - len(kept)
        self.nodes = kept
        return folded

    def model(self) -> onnx.ModelProto:
        """What the edit has come to: nodes that nobody needs are left out, and their constants."""
        import onnx

        graph = self.source.graph
        wanted = {port.name for port in graph.output}
        kept: list[onnx.NodeProto] = []
        for node in reversed(self.nodes):
            if wanted.intersection(node.output):
                kept.append(node)
                wanted |= read_by(node)
        result = onnx.ModelProto()
        result.CopyFrom(_without_graph(self.source))
        result.graph.name = graph.name
        result.graph.node.extend(reversed(kept))
        result.graph.input.extend(p for p in graph.input if p.name not in self.constants)
        result.graph.output.extend(self._port(port) for port in graph.output)
        result.graph.initializer.extend(
            _tensor(value, name) for name, value in self.constants.items() if name in wanted
        )
        return result

    def _port(self, port: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
        from onnx import helper

        shape = self.outputs.get(port.name)
        kind = port.type.tensor_type.elem_type
        if kind and shape is None:
            return port
        kind = kind or helper.np_dtype_to_tensor_dtype(self.kind(port.name))
        item = self.tensors.get(port.name)
        known = item.shape if item is not None and UNKNOWN not in item.shape else None
        return helper.make_tensor_value_info(port.name, kind, shape or known)

    # --- asking

    @property
    def opset(self) -> int:
        """Of ONNX's own operators."""
        return next((o.version for o in self.source.opset_import if not domain_of(o.domain)), 1)

    @property
    def results(self) -> set[str]:
        return {port.name for port in self.source.graph.output}

    def array(self, name: str) -> Array | None:
        """The value of a constant."""
        value = self.constants.get(name)
        if isinstance(value, np.ndarray):
            return value
        item = self.tensors.get(name)
        return item.array if isinstance(item, Constant) else None

    def input(self, node: onnx.NodeProto, index: int) -> str:
        """The name of an input; "" where it is left out."""
        return node.input[index] if index < len(node.input) else ""

    def given(self, node: onnx.NodeProto, index: int) -> Array | None:
        """An input's value, where it is constant."""
        name = self.input(node, index)
        return self.array(name) if name else None

    def varying(self, node: onnx.NodeProto) -> str:
        """The only input that varies. Raises NotPossible for none and for several."""
        names = [name for name in node.input if name and self.array(name) is None]
        if len(names) != 1:
            raise NotPossible(f"{len(names)} of its inputs vary")
        return names[0]

    def shape(self, name: str) -> tuple[int, ...]:
        """Raises NotPossible where the data decide."""
        item = self.tensors.get(name)
        if item is None or UNKNOWN in item.shape:
            raise NotPossible(f"the shape of {name!r} is not known")
        return item.shape

    def picture(self, name: str) -> tuple[int, int, int, int]:
        """N, C, H, W. Raises NotPossible for other tensors."""
        shape = self.shape(name)
        if len(shape) != 4:
            raise NotPossible(f"{name!r} has {len(shape)} dimensions, not 4")
        n, c, h, w = shape
        return n, c, h, w

    @cached_property
    def _kinds(self) -> Mapping[str, int]:
        """ONNX's element types as far as they can be inferred; :attr:`tensors` take all real types
        as one."""
        import onnx
        from onnx import helper

        graph = self.source.graph
        light = _without_graph(self.source)
        light.graph.name = graph.name
        light.graph.node.extend(graph.node)
        light.graph.output.extend(graph.output)
        constants = {tensor.name for tensor in graph.initializer}
        light.graph.input.extend(port for port in graph.input if port.name not in constants)
        light.graph.input.extend(
            helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in graph.initializer
        )
        found = onnx.shape_inference.infer_shapes(light).graph
        ports = (*found.input, *found.value_info, *found.output)
        return {port.name: port.type.tensor_type.elem_type for port in ports}

    def kind(self, name: str) -> np.dtype[Any]:
        """numpy's type of a tensor."""
        from onnx import helper

        if code := self._kinds.get(name, 0):
            return np.dtype(helper.tensor_dtype_to_np_dtype(code))
        item = self.tensors.get(name)
        return np.dtype(item.dtype if isinstance(item, Tensor | Constant) else np.float32)

    def attribute(self, node: onnx.NodeProto, name: str, default: Any = None) -> Any:
        return next((value_of(a) for a in node.attribute if a.name == name), default)

    def readers(self, name: str) -> list[onnx.NodeProto]:
        """Nodes that read a tensor, in their branches, too."""
        return [node for node in self.nodes if name in read_by(node)]

    def maker(self, name: str) -> onnx.NodeProto | None:
        return next((node for node in self.nodes if name in node.output), None)

    # --- changing

    def constant(self, value: Any, hint: str, like: str = "") -> str:
        """Adds a constant; of the type of the tensor *like*."""
        array = np.asarray(value)
        name = self._free(hint)
        self.constants[name] = array.astype(self.kind(like)) if like else array
        return name

    def make(
        self, op: str, inputs: Sequence[str], hint: str, outputs: Sequence[str] = (), **more: Any
    ) -> onnx.NodeProto:
        """A node, named after *hint*; its result is named so, too, unless *outputs* says."""
        from onnx import helper

        name = self._free(hint)
        return helper.make_node(op, list(inputs), list(outputs) or [name], name=name, **more)

    def put(self, old: Iterable[onnx.NodeProto], new: Sequence[onnx.NodeProto]) -> None:
        """*new* stands where the last of *old* stood."""
        gone = [id(node) for node in old]
        place = max(i for i, node in enumerate(self.nodes) if id(node) in gone)
        before = [node for node in self.nodes[:place] if id(node) not in gone]
        self.nodes = [*before, *new, *self.nodes[place + 1 :]]

    def renamed(self, node: onnx.NodeProto, old: str, new: str) -> None:
        """The node reads, or makes, *new* instead of *old*."""
        import onnx

        changed = onnx.NodeProto()
        changed.CopyFrom(node)
        changed.input[:] = [new if name == old else name for name in node.input]
        changed.output[:] = [new if name == old else name for name in node.output]
        self.nodes = [changed if other is node else other for other in self.nodes]

    def remove(self, node: onnx.NodeProto) -> None:
        """Takes out a node that gives its input on: who read its result reads the input.

        Raises NotPossible where names of the network's results would be lost.
        """
        result, value = node.output[0], node.input[0]
        readers = self.readers(result)
        if any(result not in reader.input for reader in readers):
            raise NotPossible("a branch of the model reads its result")
        self.nodes = [other for other in self.nodes if other is not node]
        if result in self.results:
            maker = self.maker(value)
            if maker is None or value in self.results or self.readers(value):
                raise NotPossible("it names a result of the network")
            self.renamed(maker, value, result)
            value = result
        for reader in readers:
            self.renamed(reader, result, value)

    def clip(
        self, value: str, high: float, hint: str, like: str, outputs: Sequence[str] = ()
    ) -> Any:
        """Clip from 0 to *high* (clipped ReLU) of a tensor of the type of *like*."""
        if self.opset < 11:
            return self.make("Clip", [value], hint, outputs, min=0.0, max=float(high))
        low, top = (self.constant(v, f"{hint}/{n}", like) for v, n in ((0, "min"), (high, "max")))
        return self.make("Clip", [value, low, top], hint, outputs)

    def slice(
        self, value: str, ranges: Mapping[int, tuple[int, int]], hint: str, outputs: Sequence[str]
    ) -> Any:
        """A Slice of stride 1: from and to by axis."""
        axes = list(ranges)
        begins, ends = [ranges[a][0] for a in axes], [ranges[a][1] for a in axes]
        if self.opset < 10:
            return self.make("Slice", [value], hint, outputs, axes=axes, starts=begins, ends=ends)
        names = [
            self.constant(np.array(v, np.int64), f"{hint}/{n}")
            for v, n in ((begins, "starts"), (ends, "ends"), (axes, "axes"))
        ]
        return self.make("Slice", [value, *names], hint, outputs)

    def _free(self, hint: str) -> str:
        used = {*self.constants, *self.tensors, *(n for node in self.nodes for n in node.output)}
        used |= {node.name for node in self.nodes} | self._made
        name, number = hint, 1
        while name in used:
            number += 1
            name = f"{hint}_{number}"
        self._made.add(name)
        return name

    _made: set[str] = field(default_factory=set)


def _tensor(value: Array | onnx.TensorProto, name: str) -> onnx.TensorProto:
    from onnx import numpy_helper

    if not isinstance(value, np.ndarray):
        return value  # as it was, without a copy of its bytes on the way
    return numpy_helper.from_array(np.ascontiguousarray(value), name)


def _without_graph(model: onnx.ModelProto) -> onnx.ModelProto:
    import onnx

    rest = onnx.ModelProto()
    for field_, value in model.ListFields():
        if field_.name == "graph":
            continue
        if field_.is_repeated:
            getattr(rest, field_.name).extend(value)
        else:
            setattr(rest, field_.name, value)
    return rest
