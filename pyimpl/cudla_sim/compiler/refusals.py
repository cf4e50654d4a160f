"""Everything in a network that is refused, and the options that have been seen to help.

A pass that refuses ends the compilation. Who has to change a model wants to know of all its nodes:
what is left without those that are known is compiled again, until nothing more is found.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection

import numpy as np

from . import front
from .backend import Compilation
from .calibrate.table import Table
from .errors import CompileError, Refusal, Refused
from .front.reading import load_model
from .graph import Affine, Graph, Node, Port, Value
from .options import Options
from .partition.split import prepare
from .request import Request
from .runtime import session

_ROUNDS = 8


def explained(request: Request, graph: Graph, found: Collection[Refusal] = ()) -> Refused:
    """What to raise for a network of which *found* is refused."""
    refusals = every(graph, request.options, found)
    hints = [_cut(request, graph, refusals), _fallback(request, refusals)]
    return Refused(refusals, [hint for hint in hints if hint])


def every(graph: Graph, options: Options, found: Collection[Refusal] = ()) -> list[Refusal]:
    """*found*, and what else a compilation of the rest refuses."""
    refusals = list(dict.fromkeys([*graph.refusals, *found]))
    rest = _without(graph, {refusal.node for refusal in refusals})
    for _ in range(_ROUNDS):
        if not rest.nodes:
            break
        scales = {value.name: 1.0 for value in rest.values()}
        try:
            Compilation(rest, scales, options).until("lower")
        except Refused as error:
            new = [one for one in error.refusals if one not in refusals and _known(graph, one)]
        except Exception:  # what is known is worth more than why the rest of it fails
            break
        else:
            break
        if not new:
            break
        refusals += new
        rest = _without(rest, {refusal.node for refusal in new})
    return refusals


def _known(graph: Graph, refusal: Refusal) -> bool:
    return graph.outline is None or bool(graph.outline.nodes(refusal.node))


def _without(graph: Graph, names: Collection[str]) -> Graph:
    """The network without the nodes of these names: what they read are outputs, what they made are
    inputs."""
    refused = {part for name in names for part in (name, *name.split(" + "))}
    gone = [node for node in graph.nodes if refused.intersection(_names(node))]
    kept = [node for node in graph.nodes if node not in gone]
    made = {node.output for node in kept}
    ends = [port.value for port in graph.ends] + [value for node in gone for value in node.inputs]
    # a copy behind each: what is not the last operation shall not become it
    copies = [_copy(value) for value in dict.fromkeys(ends) if value in made]
    outputs = [p for p in graph.outputs if p.value in made and p not in graph.ends]
    read = dict.fromkeys(value for node in kept for value in node.inputs)
    inputs = [port for port in graph.inputs if port.value in read]
    known = made | {port.value for port in inputs}
    return Graph(
        inputs=[*inputs, *(_port(value) for value in read if value not in known)],
        outputs=[*outputs, *(_port(node.output) for node in copies)],
        nodes=[*kept, *copies],
        name=graph.name,
        outline=graph.outline,
        precise=graph.precise,
    )


def _port(value: Value) -> Port:
    return Port(name=value.name, shape=value.shape, value=value)


def _names(node: Node) -> set[str]:
    return {node.name, *node.name.split(" + ")}


def _copy(value: Value) -> Node:
    one = np.ones((1, 1, 1, 1), np.float32)
    output = Value(f"{value.name} copied", value.shape, value.scale)
    return Affine(name=value.name, inputs=[value], output=output, scale=one, shift=0 * one)


# --- options that help


def _cut(request: Request, graph: Graph, refusals: Collection[Refusal]) -> str:
    """``--outputs`` with which the network compiles, if there are such."""
    assert graph.outline is not None
    refused = {name for one in refusals for name in graph.outline.nodes(one.node)}
    for _ in range(_ROUNDS):
        names = graph.outline.cut(refused, request.outputs)
        if not names or not all(_sayable(name) for name in names):
            return ""
        try:
            pixels = front.Pixels(request.pixels, request.mean, request.scale)
            part = front.read(request.model, outputs=names, shapes=request.shapes, pixels=pixels)
            again = every(part, request.options)
        except CompileError:
            return ""
        if not again:
            words = " ".join(f"--outputs {shlex.quote(port.name)}" for port in part.outputs)
            return f"{words} compiles what comes before"
        more = {name for one in again for name in graph.outline.nodes(one.node)} - refused
        if not more:
            return ""
        refused |= more
    return ""


def _sayable(name: str) -> bool:
    return name.isprintable() and not name.startswith("-") and "," not in name


def _fallback(request: Request, refusals: Collection[Refusal]) -> str:
    """Whether the host can compute the model."""
    if request.outputs or any("repair" in one.cure for one in refusals):
        return ""
    try:
        session(prepare(load_model(request.model), request.shapes))
    except (CompileError, ValueError):  # of models that protobuf cannot hold in one piece
        return ""
    who = "it" if len(refusals) == 1 else "them"
    data = [path for path in request.calib if not Table.is_table(path)]
    given = "" if data or request.options.precision == "fp16" else " with data (--calib)"
    return f"--fallback cpu{given} leaves {who} to the host"
