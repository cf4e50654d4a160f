"""Cutting an ONNX model into partitions for hardware and host that follow each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import CompileError, Unsupported
from ..front.inference import refuse_fatal
from ..front.reading import inlined

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True, slots=True)
class Cut:
    """Nodes (by position) of one partition, and the tensors that go in and come out."""

    host: bool
    nodes: tuple[int, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def prepare(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> onnx.ModelProto:
    """A copy with local functions inlined, names for all nodes, fixed input shapes, and without
    nodes that nobody needs."""
    from onnx import ModelProto, TensorShapeProto, shape_inference

    made = ModelProto()
    made.CopyFrom(inlined(model))
    _prune(made)
    names: set[str] = set()
    for number, node in enumerate(made.graph.node):
        name = node.name or f"{node.op_type}:{next(iter(node.output), number)}"
        while name in names:
            name += "'"
        node.name = name
        names.add(name)
        _refuse_fatal(node)
    stored = {item.name for item in made.graph.initializer}
    for item in made.graph.input:
        if item.name in stored:
            continue
        dims = item.type.tensor_type.shape.dim
        wished = shapes.get(item.name)
        if wished is not None and not dims:
            dims.extend(TensorShapeProto.Dimension() for _ in wished)
        for place, dim in enumerate(dims):
            size = wished[place] if wished is not None and place < len(wished) else dim.dim_value
            if size < 1 and place == 0:
                size = 1
            if size < 1:
                raise CompileError(
                    f"input {item.name!r} has a dynamic dimension {place}; --shapes"
                    f" {item.name}:1x... fixes it"
                )
            dim.dim_value = size
    for item in (*made.graph.value_info, *made.graph.output):
        for dim in item.type.tensor_type.shape.dim:
            if dim.dim_value < 0:
                dim.Clear()  # some exporters write it so
    try:
        return shape_inference.infer_shapes(made, data_prop=True)
    except (shape_inference.InferenceError, ValueError, RuntimeError) as error:
        text = " ".join(str(error).split())[:300]
        raise CompileError(f"ONNX finds no shapes in the model: {text}") from None


def _prune(model: onnx.ModelProto) -> None:
    """Leave out nodes that no output of the network depends on."""
    wanted = {item.name for item in model.graph.output}
    needed = []
    for node in reversed(model.graph.node):
        if wanted.intersection(node.output):
            wanted.update(reads(node))
            needed.append(node)
    if len(needed) < len(model.graph.node):
        kept = [_copied(node) for node in reversed(needed)]
        del model.graph.node[:]
        model.graph.node.extend(kept)


def _copied(node: onnx.NodeProto) -> onnx.NodeProto:
    made = type(node)()
    made.CopyFrom(node)
    return made


def _refuse_fatal(node: onnx.NodeProto) -> None:
    try:
        refuse_fatal(node)
    except Unsupported as error:
        raise CompileError(f"node {node.name!r} ({node.op_type}): {error.reason}") from None
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                _refuse_fatal(inner)


def reads(node: onnx.NodeProto) -> Iterator[str]:
    """Tensors that a node needs, also those that its branches take from outside."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            inside = {item.name for item in (*graph.input, *graph.initializer)}
            for inner in graph.node:
                yield from (name for name in reads(inner) if name not in inside)
                inside.update(inner.output)


def integers(model: onnx.ModelProto) -> set[str]:
    """Tensors that are known to hold something else than 32-bit floats."""
    from onnx import TensorProto

    known = (*model.graph.input, *model.graph.value_info, *model.graph.output)
    return {
        item.name
        for item in known
        if item.type.tensor_type.elem_type not in (TensorProto.FLOAT, TensorProto.UNDEFINED)
    }


def constants(model: onnx.ModelProto) -> set[str]:
    """Tensors that do not depend on the network's inputs."""
    stored = {item.name for item in model.graph.initializer}
    varying = {item.name for item in model.graph.input} - stored
    found = set(stored)
    for node in model.graph.node:
        if not any(name in varying for name in reads(node)):
            found.update(node.output)
        else:
            varying.update(node.output)
    return found


def split(model: onnx.ModelProto, host: Collection[str]) -> list[Cut]:
    """Partitions in order: nodes called as one of *host*, and all others.

    Each node goes as early as what it reads allows. Constants belong to every partition that
    needs them.
    """
    fixed = constants(model)
    nodes = model.graph.node
    stage: dict[str, int] = {}
    members: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        if all(name in fixed for name in node.output):
            continue
        first = max((stage.get(name, 0) for name in reads(node)), default=0)
        first += first % 2 != (node.name in host)
        members.setdefault(first, []).append(number)
        stage.update(dict.fromkeys(node.output, first))
    wanted = {item.name for item in model.graph.output}
    readers: dict[str, set[int]] = {}
    for level, numbers in members.items():
        for number in numbers:
            for name in reads(nodes[number]):
                readers.setdefault(name, set()).add(level)
    cuts = []
    for level, numbers in sorted(members.items()):
        made = [name for number in numbers for name in nodes[number].output if name]
        needed = dict.fromkeys(
            name
            for number in numbers
            for name in reads(nodes[number])
            if name not in made and name not in fixed
        )
        given = [
            name
            for name in made
            if name in wanted or any(r != level for r in readers.get(name, ()))
        ]
        cuts.append(Cut(level % 2 == 1, tuple(numbers), tuple(needed), tuple(given)))
    return cuts


def extract(
    model: onnx.ModelProto, cut: Cut, types: Mapping[str, onnx.ValueInfoProto]
) -> onnx.ModelProto:
    """The model of one partition, with the constants it needs."""
    from onnx import helper

    makers = {name: number for number, node in enumerate(model.graph.node) for name in node.output}
    fixed = constants(model)
    chosen = set(cut.nodes)
    waiting = [name for number in chosen for name in reads(model.graph.node[number])]
    stored: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in fixed or name in stored:
            continue
        stored.add(name)
        maker = makers.get(name)
        if maker is not None and maker not in chosen:
            chosen.add(maker)
            waiting += reads(model.graph.node[maker])
    graph = helper.make_graph(
        [model.graph.node[number] for number in sorted(chosen)],
        model.graph.name,
        [types[name] for name in cut.inputs],
        [types[name] for name in cut.outputs],
        [item for item in model.graph.initializer if item.name in stored],
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
