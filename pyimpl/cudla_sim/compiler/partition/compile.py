"""Compiling what the hardware can do of a model, and leaving the rest to the host."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import annotation
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.parts.package import Package
from cudla_sim.nvdla.parts.part import Part, Tensor

from .. import front
from ..backend import compile_graph
from ..calibrate import ranges, statistics_for
from ..errors import CompileError, Refusal, Refused
from ..front.inputs import element_type
from ..options import Options
from ..runtime import session
from .choice import moves
from .costs import Costs
from .split import Cut, extract, integers, prepare, reads, split
from .varying import largest, varying

if TYPE_CHECKING:
    import onnx

Sample = Mapping[str, NDArray[Any]]


def compile_partitions(
    model: onnx.ModelProto,
    options: Options,
    samples: Iterable[Sample] = (),
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    method: str = "minmax",
    most: int | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Package:
    """Compile *model* for hardware and host; nodes that are refused go to the host.

    *samples* (ONNX inputs by name) calibrate integer networks. *most*: parts that are wanted; what
    costs least then runs on the host, too. *say* gets a line for each refusal, and for hardware
    that is not worth its transfers. Raises CompileError.
    """
    whole = prepare(model, shapes or {})
    given = [dict(sample) for sample in samples]
    if not given and options.precision != "fp16":
        raise CompileError("a network in parts needs calibration data (--calib) for integers")
    if most is not None and most < 1:
        raise CompileError(f"{most} parts are wanted; at least 1 is possible")
    data = given or [_random(whole)]
    tensors = known(whole, data[0])
    costs = Costs(whole, tensors, options.config)
    loose = varying(whole)
    trial = _Trial(whole, options, data, method, bool(given), costs, tensors, loose)
    host = _not_float(whole) | {
        node.name
        for node in whole.graph.node
        if any(name in loose for name in (*reads(node), *node.output))
    }
    chosen: set[str] = set()  # by cost, not because they are refused
    while True:
        cuts = split(whole, host | chosen)
        parts, refused = trial.parts(cuts)
        for name, reason in refused.items():
            say(f"{name!r} runs on the host: {reason}")
        host |= set(refused)
        if refused:
            continue
        found = moves(cuts, _splitter(whole, host | chosen), costs, most)
        for move in found:
            names = [whole.graph.node[number].name for number in move.nodes]
            verb = f"and the {len(names) - 1} nodes with it run" if names[1:] else "runs"
            say(f"{names[0]!r} {verb} on the host: {move.reason}")
            chosen |= set(names)
        if not found:
            break
    between = {name for part in parts for name in (*part.inputs, *part.outputs)}
    inputs = {item.name: _sizes(item) for item in _inputs(whole)}
    most_of = largest(whole, loose)
    for name in loose & set(tensors):
        tensors[name] = Tensor(tensors[name].dtype, most_of.get(name, tensors[name].shape), True)
    return Package(
        options.config,
        inputs,
        tuple(item.name for item in whole.graph.output),
        tuple(parts),
        {name: tensors[name] for name in sorted({*inputs, *between}) if name in tensors},
    )


def _splitter(
    model: onnx.ModelProto, host: Collection[str]
) -> Callable[[Collection[int]], list[Cut]]:
    nodes = model.graph.node
    return lambda more: split(model, {*host, *(nodes[number].name for number in more)})


def _inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    stored = {item.name for item in model.graph.initializer}
    return [item for item in model.graph.input if item.name not in stored]


def _sizes(item: onnx.ValueInfoProto) -> tuple[int, ...]:
    return tuple(dim.dim_value for dim in item.type.tensor_type.shape.dim)


def _not_float(model: onnx.ModelProto) -> set[str]:
    """Nodes that compute integers from the network's inputs."""
    from .split import constants

    other, fixed = integers(model), constants(model)
    return {
        node.name
        for node in model.graph.node
        if any(name in other and name not in fixed for name in (*reads(node), *node.output))
    }


def known(model: onnx.ModelProto, sample: Sample) -> dict[str, Tensor]:
    """Element types and shapes of all tensors: as ONNX infers them, the rest by running once."""
    from onnx import helper

    found: dict[str, Tensor] = {}
    for item in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        kind = item.type.tensor_type
        sizes = [dim.dim_value for dim in kind.shape.dim]
        if kind.elem_type and kind.HasField("shape") and all(size > 0 for size in sizes):
            dtype = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
            found[item.name] = Tensor(dtype.name, tuple(sizes))
    made = [name for node in model.graph.node for name in node.output if name]
    missing = [name for name in made if name not in found]
    if missing:
        values = _values(model, missing, [sample])[0]
        for name in missing:
            if isinstance(values[name], np.ndarray):
                found[name] = Tensor(values[name].dtype.name, values[name].shape)
    return found


_MOST_ELEMENTS = 1 << 28
"""Of an input that the host computes on."""


def _random(model: onnx.ModelProto) -> dict[str, NDArray[Any]]:
    """Something to find out shapes with."""
    random = np.random.default_rng(0)
    found = {}
    for item in _inputs(model):
        dtype = np.dtype(element_type(item))
        sizes = _sizes(item)
        if prod(sizes) > _MOST_ELEMENTS:
            raise CompileError(
                f"input {item.name!r} has {prod(sizes)} elements; {_MOST_ELEMENTS} are possible"
                " where parts run on the host"
            )
        found[item.name] = np.asarray(random.normal(size=sizes)).astype(dtype)
    return found


def _values(
    model: onnx.ModelProto, names: Sequence[str], samples: Sequence[Sample]
) -> list[dict[str, NDArray[Any]]]:
    """Tensors of the float network for each sample."""
    from onnx import ModelProto, ValueInfoProto

    wider = ModelProto()
    wider.CopyFrom(model)
    have = {item.name for item in (*model.graph.output, *model.graph.input)}
    wider.graph.output.extend(ValueInfoProto(name=name) for name in names if name not in have)
    running = session(wider)
    made = [item.name for item in wider.graph.output]
    found = []
    for sample in samples:
        feeds = {item.name: np.asarray(sample[item.name]) for item in _inputs(model)}
        found.append({**feeds, **dict(zip(made, running.run(made, feeds), strict=True))})
    return found


@dataclass
class _Trial:
    """Compiles cuts; *samples* are data (*measured*) or random. Parts that came out well are kept:
    they are not compiled again when others change."""

    model: onnx.ModelProto
    options: Options
    samples: Sequence[Sample]
    method: str
    measured: bool
    costs: Costs
    tensors: dict[str, Tensor]
    loose: set[str]
    """Tensors whose sizes depend on the data."""
    done: dict[tuple[Any, ...], Part] = field(default_factory=dict)

    def parts(self, cuts: Sequence[Cut]) -> tuple[list[Part], dict[str, str]]:
        """All parts, or the nodes that must go to the host and why."""
        from onnx import helper

        names = list(dict.fromkeys(name for cut in cuts for name in (*cut.inputs, *cut.outputs)))
        values = _values(self.model, names, self.samples)
        for name in names:
            array = values[0][name]
            self.tensors[name] = Tensor(array.dtype.name, array.shape)
        types = {}
        for name in names:
            array = values[0][name]
            shape = [None] * array.ndim if name in self.loose else array.shape
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            types[name] = helper.make_tensor_value_info(name, kind, shape)
        parts: list[Part] = []
        refused: dict[str, str] = {}
        for cut in cuts:
            key = (cut.host, cut.nodes, cut.inputs, cut.outputs)
            if key not in self.done:
                refused.update(self._compile(cut, types, values))
            if key in self.done:
                parts.append(self.done[key])
        return parts, refused

    def _compile(
        self,
        cut: Cut,
        types: Mapping[str, onnx.ValueInfoProto],
        values: Sequence[Mapping[str, NDArray[Any]]],
    ) -> dict[str, str]:
        """Adds a part to those that are done, or returns what is refused of it and why."""
        nodes = tuple(self.model.graph.node[number].name for number in cut.nodes)
        part = extract(self.model, cut, types)
        refused: dict[str, str] = {}
        try:
            if cut.host:
                data = part.SerializeToString()
            else:
                feeds = [{name: value[name] for name in cut.inputs} for value in values]
                data = _compiled(part, cut, self.options, feeds, self.method, self.measured)
        except Refused as error:
            for refusal in error.refusals:
                for name in _nodes(refusal, nodes):
                    refused[name] = refusal.reason
        except CompileError as error:
            refused.update(dict.fromkeys(nodes, str(error)))
        except Exception as error:  # the rest of the network shall not wait for this one's repair
            if cut.host:
                raise
            why = f"the compiler fails at it ({type(error).__name__}: {error}); please report it"
            refused.update(dict.fromkeys(nodes, why))
        else:
            key = (cut.host, cut.nodes, cut.inputs, cut.outputs)
            macs = self.costs.macs(cut.nodes)
            inputs = cut.inputs if cut.host else _taken(data, cut.inputs)
            self.done[key] = Part(cut.host, nodes, inputs, cut.outputs, data, macs)
        return refused


def _taken(data: bytes, names: Sequence[str]) -> tuple[str, ...]:
    """Those of the inputs that a loadable has: nothing may depend on some of them."""
    note = annotation.read(Loadable.parse(data))
    known = {port.name for port in note.inputs} if note is not None else set(names)
    return tuple(name for name in names if name in known)


def _compiled(
    part: onnx.ModelProto,
    cut: Cut,
    options: Options,
    feeds: Sequence[Sample],
    method: str,
    measured: bool,
) -> bytes:
    graph = front.load(part)
    scales = {} if options.precision == "fp16" else ranges(graph, feeds, method)
    seen = statistics_for(graph, feeds if measured else None, options.precision)
    own = replace(
        options,
        input_formats={k: v for k, v in options.input_formats.items() if k in cut.inputs},
        output_formats={k: v for k, v in options.output_formats.items() if k in cut.outputs},
    )
    return compile_graph(graph, scales, own, seen.means, spans=seen.spans).loadable


def _nodes(refusal: Refusal, nodes: Sequence[str]) -> list[str]:
    """The nodes that a refusal means; it may name several, or a piece of one."""
    if refusal.node in nodes:
        return [refusal.node]
    named = [name for name in refusal.node.split(" + ") if name in nodes]
    if named:
        return named
    near = sorted((n for n in nodes if refusal.node.startswith(n)), key=len)
    return near[-1:] or list(nodes)
