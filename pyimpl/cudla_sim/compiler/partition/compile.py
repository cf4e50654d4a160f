"""Compiling what the hardware can do of a model, and leaving the rest to the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import front
from ..backend import compile_graph
from ..calibrate import ranges, statistics_for
from ..errors import CompileError, Refusal, Refused
from ..front.inputs import element_type
from ..options import Options
from ..runtime import session
from .package import Package, Part
from .split import Cut, extract, integers, prepare, reads, split

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
    say: Callable[[str], None] = lambda text: None,
) -> Package:
    """Compile *model* for hardware and host; nodes that are refused go to the host.

    *samples* (ONNX inputs by name) calibrate integer networks. *say* gets a line for each refusal.
    Raises CompileError.
    """
    whole = prepare(model, shapes or {})
    given = [dict(sample) for sample in samples]
    if not given and options.precision != "fp16":
        raise CompileError("a network in parts needs calibration data (--calib) for integers")
    host = _not_float(whole)
    while True:
        cuts = split(whole, host)
        parts, refused = _try(whole, cuts, options, given or [_random(whole)], method, bool(given))
        if not refused:
            break
        for name, reason in refused.items():
            say(f"{name!r} runs on the host: {reason}")
        host |= set(refused)
    return Package(
        options.config,
        {item.name: _sizes(item) for item in _inputs(whole)},
        tuple(item.name for item in whole.graph.output),
        tuple(parts),
    )


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


def _try(
    model: onnx.ModelProto,
    cuts: Sequence[Cut],
    options: Options,
    samples: Sequence[Sample],
    method: str,
    measured: bool,
) -> tuple[list[Part], dict[str, str]]:
    """All parts, or the nodes that must go to the host and why. *samples* are data (*measured*) or
    random."""
    from onnx import helper

    names = list(dict.fromkeys(name for cut in cuts for name in (*cut.inputs, *cut.outputs)))
    values = _values(model, names, samples)
    types = {
        name: helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(values[0][name].dtype), values[0][name].shape
        )
        for name in names
    }
    parts: list[Part] = []
    refused: dict[str, str] = {}
    for cut in cuts:
        nodes = tuple(model.graph.node[number].name for number in cut.nodes)
        part = extract(model, cut, types)
        if cut.host:
            parts.append(Part(True, nodes, cut.inputs, cut.outputs, part.SerializeToString()))
            continue
        feeds = [{name: value[name] for name in cut.inputs} for value in values]
        try:
            data = _compiled(part, cut, options, feeds, method, measured)
        except Refused as error:
            for refusal in error.refusals:
                for name in _nodes(refusal, nodes):
                    refused[name] = refusal.reason
        except CompileError as error:
            refused.update(dict.fromkeys(nodes, str(error)))
        except Exception as error:  # the rest of the network shall not wait for this one's repair
            why = f"the compiler fails at it ({type(error).__name__}: {error}); please report it"
            refused.update(dict.fromkeys(nodes, why))
        else:
            parts.append(Part(False, nodes, cut.inputs, cut.outputs, data))
    return parts, refused


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
