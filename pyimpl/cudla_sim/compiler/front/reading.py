"""Reads a model, checks what can be checked before its nodes are looked at, makes the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cudla_sim.core import untrusted

from ..errors import CompileError, Refused
from ..graph import Graph, Reshape, Softmax, Transpose
from ..outline import Outline
from ..passes import Watch
from . import shapes as shapes_of_inputs
from .inputs import Layout
from .pixels import Pixels, put_in_front
from .protos import read_constants
from .simplify import simplify
from .tensors import Constant
from .walk import Walker

if TYPE_CHECKING:
    import onnx

OLDEST_OPSET = 7
_MOST_BYTES = 2 << 30
"""Of a model without its external data: protobuf has no more."""

_MOST_NODES, _MOST_DEPTH = 1_000_000, 100
"""Of a model whose functions have been unfolded."""

_EXTRA = "ONNX models need the package onnx: pip install 'cudla-sim[onnx]'"


def load(
    model: str | Path | onnx.ModelProto,
    *,
    outputs: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] | None = None,
    watch: Watch | None = None,
    pixels: Pixels | None = None,
) -> Graph:
    """The graph of an ONNX model: a file or a ModelProto.

    *outputs* cuts the network at these tensors (or nodes with one output); *shapes* fixes dynamic
    inputs by name, a dynamic first dimension is 1 otherwise. *watch* is called behind every pass.
    With *pixels*, inputs are 8-bit pictures.
    Raises CompileError for a model that is wrong, Refused with all nodes that the graph cannot
    express.
    """
    graph = read(model, outputs=outputs, shapes=shapes, watch=watch, pixels=pixels)
    if graph.refusals:
        raise Refused(graph.refusals)
    return graph


def read(
    model: str | Path | onnx.ModelProto,
    *,
    outputs: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] | None = None,
    watch: Watch | None = None,
    pixels: Pixels | None = None,
) -> Graph:
    """As :func:`load`, but nodes that the graph cannot express are ``refusals`` of the result: the
    rest of the network can still be looked at."""
    proto, name = parsed(model)
    proto = inlined(proto)
    check_opsets(proto)
    given: dict[str, Sequence[int]] = dict(shapes or {})
    if pixels:
        proto, given = put_in_front(proto, pixels), dict(pixels.shapes(given))
    wanted = wanted_outputs(proto, outputs)
    outline = Outline.of(proto)
    constants = read_constants(proto.graph)
    fixed = shapes_of_inputs.fixed(proto, given, partial(_fits, proto, constants, wanted))
    if not isinstance(model, type(proto)):
        del proto.graph.initializer[:]  # large networks need the memory
    walker = _best_walk(proto, constants, wanted, fixed)
    graph = walker.graph(name or proto.graph.name or "network")
    del walker, proto, constants
    graph.outline = outline
    simplify(graph, watch)
    graph.refusals[:] = outline.named(graph.refusals)
    return graph


def load_model(path: Path) -> onnx.ModelProto:
    """The model of a file, with its external data. Raises CompileError."""
    return parsed(path)[0]


def parsed(model: str | Path | onnx.ModelProto) -> tuple[onnx.ModelProto, str]:
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise CompileError(_EXTRA) from None
    if isinstance(model, onnx.ModelProto):
        proto, name, folder = model, "", None
    else:
        path = Path(model)
        name, folder = path.stem, path.parent
        try:
            proto = onnx.load_model_from_string(untrusted.read_bytes(path, _MOST_BYTES))
        except OSError as error:
            raise CompileError(f"{path}: {error.strerror or error}") from None
        except untrusted.Unreadable as error:
            raise CompileError(f"{path} {error}") from None
        except (DecodeError, ValueError, TypeError, RuntimeError, RecursionError) as error:
            raise CompileError(f"{path} is no ONNX model (protobuf): {_line(error)}") from None
    if not proto.graph.node and not proto.graph.output:
        where = "the model" if folder is None else str(model)
        raise CompileError(f"{where} is no ONNX model: it holds no graph")
    _check_names(proto)
    _check_functions(proto)
    if folder is not None:
        _load_external(proto, folder)
    return proto, name


def _check_names(proto: onnx.ModelProto) -> None:
    """Raises CompileError for names that are no text: protobuf hands them over as bytes."""
    words: list[str] = [opset.domain for opset in proto.opset_import]
    nodes: list[onnx.NodeProto] = []
    graphs = [proto.graph]
    for one in proto.functions:
        words += (one.name, one.domain, *one.input, *one.output, *one.attribute)
        nodes += one.node
    while nodes or graphs:
        if graphs:
            graph = graphs.pop()
            ports = (*graph.input, *graph.output, *graph.value_info, *graph.initializer)
            words += (graph.name, *(port.name for port in ports))
            nodes += graph.node
            continue
        node = nodes.pop()
        words += (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            words.append(attribute.name)
            graphs += [attribute.g] if attribute.HasField("g") else []
            graphs += attribute.graphs
    if not all(isinstance(word, str) for word in words):
        raise CompileError("the model has names that are no text in UTF-8")


def _check_functions(proto: onnx.ModelProto) -> None:
    """Raises CompileError for functions that call each other until there are too many nodes."""
    bodies = {(f.domain, f.name): f for f in proto.functions}
    sizes: dict[tuple[str, str], int] = {}

    def size(nodes: Sequence[onnx.NodeProto], above: tuple[tuple[str, str], ...]) -> int:
        total = 0
        for node in nodes:
            key = node.domain, node.op_type
            if key in above:
                raise CompileError(f"function {node.op_type!r} of the model calls itself")
            if key in bodies and key not in sizes:
                if len(above) == _MOST_DEPTH:
                    raise CompileError(f"functions of the model call each other {_MOST_DEPTH} deep")
                sizes[key] = size(bodies[key].node, (*above, key))
            total += sizes.get(key, 1)
        return total

    found = size(proto.graph.node, ())
    if found > _MOST_NODES:
        raise CompileError(
            f"the functions of the model unfold to {found} nodes; {_MOST_NODES} are possible"
        )


def _load_external(proto: onnx.ModelProto, folder: Path) -> None:
    from onnx import checker, external_data_helper

    try:
        external_data_helper.load_external_data_for_model(proto, str(folder))
    except (OSError, ValueError, checker.ValidationError, RuntimeError) as error:
        raise CompileError(
            f"external data of the model cannot be read: {_line(error)}; put its data files beside "
            "the model"
        ) from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def inlined(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model without functions of its own. Raises CompileError."""
    if not proto.functions:
        return proto
    from onnx import inliner

    try:
        return inliner.inline_local_functions(proto, False)
    except Exception as error:  # a C++ error without a class of its own
        raise CompileError(
            f"the model's local functions cannot be inlined: {_line(error)}"
        ) from None


def check_opsets(proto: onnx.ModelProto) -> None:
    odd = [o.version for o in proto.opset_import if not 0 < o.version < 1 << 31]
    if odd:
        raise CompileError(f"the model asks for version {odd[0]} of an operator set; there is none")
    version = next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), 0)
    if version < OLDEST_OPSET:
        raise CompileError(
            f"the model is of opset {version}; {OLDEST_OPSET} or newer is needed "
            "(onnx.version_converter converts)"
        )


def wanted_outputs(proto: onnx.ModelProto, outputs: Sequence[str]) -> list[str]:
    if not outputs:
        if not proto.graph.output:
            raise CompileError("the model has no outputs; name tensors with --outputs")
        return [port.name for port in proto.graph.output]
    tensors = {name for node in proto.graph.node for name in node.output if name}
    by_node = {node.name: node.output[0] for node in proto.graph.node if node.name}
    found = []
    for name in outputs:
        if name in tensors:
            found.append(name)
        elif name in by_node:
            found.append(by_node[name])
        else:
            import difflib

            near = difflib.get_close_matches(name, [*tensors, *by_node], 3, 0.5)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise CompileError(f"--outputs: no tensor or node is called {name!r}{hint}")
    return list(dict.fromkeys(found))


def _fits(
    proto: onnx.ModelProto,
    constants: Mapping[str, Constant],
    wanted: list[str],
    sizes: shapes_of_inputs.Shapes,
) -> bool:
    """Whether all nodes can be read with inputs of these sizes."""
    try:
        return not _best_walk(proto, constants, wanted, sizes).build.refusals
    except CompileError:
        return False


def _best_walk(
    proto: onnx.ModelProto,
    constants: Mapping[str, Constant],
    wanted: list[str],
    fixed: Mapping[str, tuple[int, ...]],
) -> Walker:
    """Reads the network with the usual layouts of its inputs; where data then has to move, with
    others, and takes those with the least moving."""
    layouts = {name: Layout.choices(shape) for name, shape in fixed.items()}
    chosen = {name: choices[0] for name, choices in layouts.items()}
    best = Walker(proto, constants, wanted, fixed, chosen).run()
    for name, choices in layouts.items():
        for layout in choices[1:]:
            if not _cost(best):
                return best
            other = Walker(proto, constants, wanted, fixed, {**chosen, name: layout}).run()
            if _cost(other) < _cost(best):
                best, chosen = other, {**chosen, name: layout}
    return best


def _cost(walker: Walker) -> int:
    build = walker.build
    moving = sum(isinstance(node, Transpose | Reshape) for node in build.nodes)
    # the host's softmax runs over channels only
    moving += sum(isinstance(node, Softmax) and node.axis != 1 for node in build.nodes)
    return moving + 100 * len(build.refusals)
