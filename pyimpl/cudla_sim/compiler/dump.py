"""A compilation as text, behind any of its passes.

A line for each node of the graph, for each fused group of them, or for each hardware operation:
whichever the last pass made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from cudla_sim.nvdla.facts.precisions import NAMES

from . import graph as g

if TYPE_CHECKING:
    from .backend import Compilation
    from .lower.homes import Home
    from .lower.task import LabelledOp


def text(name: str, state: g.Graph | Compilation) -> str:
    """What there is behind the pass *name*; lines end with a line feed."""
    graph = state if isinstance(state, g.Graph) else state.graph
    lines = [f"after {name}: {graph.name}"]
    for kind, ports in (("input", graph.inputs), ("output", graph.outputs)):
        lines += [f"  {kind} {port.name} {_shape(port.shape)}" for port in ports]
    lines += (f"  {line}" for line in _body(state))
    return "\n".join(lines) + "\n"


def _body(state: g.Graph | Compilation) -> Iterator[str]:
    if isinstance(state, g.Graph):
        yield from (_node(node, node.output.scale) for node in state.nodes)
    elif state.loadable:
        yield f"{len(state.loadable)} bytes"
    elif state.network is None:
        yield from (_node(node, state.scales.get(node.output)) for node in state.nodes)
    elif state.network.task.ops:
        yield from (_operation(op) for op in state.network.task.ops)
    else:
        homes = state.network.homes.homes
        for item in state.network.passes:
            kinds = " + ".join(node.kind for node in item.nodes)
            home = homes.get(item.output)
            where = "" if home is None else f" in {_home(item.output, home)}"
            yield f"{_value(item.output)} = {kinds} {NAMES[item.precision]}{where}"


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _value(value: g.Value) -> str:
    return f"{value.name} {_shape(value.shape)}"


def _node(node: g.Node, scale: float | None) -> str:
    """``output = Kind(inputs) members``, without the members that have their defaults."""
    inputs = ", ".join(value.name for value in node.inputs)
    words = [f"{_value(node.output)} = {node.kind}({inputs})"]
    own = [item for item in fields(node) if item.name not in ("name", "inputs", "output")]
    words += [
        f"{item.name}={_member(getattr(node, item.name))}"
        for item in own
        if not _usual(item, getattr(node, item.name))
    ]
    if scale is not None:
        words.append(f"scale={scale:g}")
    return " ".join(words)


def _usual(item: Field[Any], value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return False
    if item.default_factory is not MISSING:
        return bool(value == item.default_factory())
    return item.default is not MISSING and bool(value == item.default)


def _member(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 1:
        return f"{value.dtype}[{_shape(value.shape)}]"
    if isinstance(value, tuple):
        shown = [_member(item) for item in value[:8]] + ["..."] * (len(value) > 8)
        return f"({','.join(shown)})"
    number = value.item() if isinstance(value, np.ndarray) else value
    return f"{number:g}" if isinstance(number, float) else str(number)


def _home(value: g.Value, home: Home) -> str:
    """A cube of its own, or the part of another value's cube."""
    if home.buffer is not None:
        return f"{home.buffer.size} bytes"
    assert home.parent is not None
    if home.flat:
        return f"{home.parent.name}, read as {_shape(value.shape)}"
    return f"{home.parent.name} from ({home.channel},{home.line},{home.pixel})"


def _operation(op: LabelledOp) -> str:
    def places(buffers: Any) -> str:
        return ", ".join(
            sorted(
                b.name if b.entry < 0 else f"{b.name} at {b.entry}+{b.offset:#x}" for b in buffers
            )
        )

    words = [f"{op.entry.index} {op.op_type.name} {op.label!r}:"]
    words += [places(op.reads)] if op.reads else []
    words += ["->", places(op.writes)] if op.writes else []
    return " ".join(words)
