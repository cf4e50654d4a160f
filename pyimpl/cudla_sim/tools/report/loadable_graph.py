"""The section with the layers of a loadable as boxes: a box an operation of the hardware, or the
pieces of one layer together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...nvdla.timing.pipeline import TimedOperation
from ...nvdla.timing.runs import TimedRun
from ..nvdla import layer_graph as graph
from .graphs import Edge, Layer, LayerGraph
from .page import Section

Pieces = list[TimedOperation]
LayerName = tuple[int, int]
"""Task and number."""


def section(description: dict[str, Any], run: TimedRun) -> Section:
    """Of what ``nvdla.inspect.describe`` returned, with times."""
    found = graph.build(description)
    if len(found.nodes) < 2:
        return Section("Layer graph", "graph")
    layers = {(layer["task"], layer["index"]): layer for layer in description["layers"]}
    groups = list(_groups(run, layers, found))
    owner = {name: str(pieces[0].index) for pieces in groups for name in _names(pieces)}
    longest = max((_cycles(pieces) for pieces in groups), default=1)
    boxes = [_port(name, label) for name, label in found.nodes.items() if name.startswith("in")]
    boxes += [_box(pieces, layers, longest) for pieces in groups]
    boxes += [_port(name, label) for name, label in found.nodes.items() if name.startswith("out")]
    ends = [
        (owner.get(e.source, e.source), owner.get(e.target, e.target), e.shape) for e in found.edges
    ]
    edges = {(source, target): shape for source, target, shape in ends if source != target}
    text = [
        "A box is an operation of the hardware, or all pieces of a layer that was cut to fit. A "
        "click on it shows its attributes, and its rows and bars."
    ]
    drawn = LayerGraph(
        boxes,
        [Edge(source, target, shape) for (source, target), shape in edges.items()],
        "what it is bound by",
        [f"bound by {o.bound}" for o in run.operations],  # the colours of the timeline
    )
    return Section("Layer graph", "graph", text, graphs=[drawn])


def _names(pieces: Pieces) -> list[str]:
    """As the graph calls their layers."""
    return [f"{o.task}.{number}" for o in pieces for number in o.layers]


def _groups(
    run: TimedRun, layers: dict[LayerName, dict[str, Any]], found: graph.Graph
) -> Iterator[Pieces]:
    """Operations that follow each other, do the same with the same weights, write rows of one
    tensor and read nothing of each other are pieces of one layer."""
    reads: dict[str, set[str]] = {}
    for edge in found.edges:
        reads.setdefault(edge.target, set()).add(edge.source)
    current: Pieces = []
    before: tuple[Any, ...] | None = None
    for operation in run.operations:
        if not operation.layers:
            continue
        what = _what(operation, layers)
        sources = set().union(*(reads.get(name, ()) for name in _names([operation])))
        if current and (what != before or sources & set(_names(current))):
            yield current
            current = []
        current, before = [*current, operation], what
    if current:
        yield current


def _what(operation: TimedOperation, layers: dict[LayerName, dict[str, Any]]) -> tuple[Any, ...]:
    own = [layers[operation.task, number] for number in operation.layers]
    weights = [
        (cube["address"], cube["offset"])
        for layer in own
        for kind, cube in layer["cubes"].items()
        if kind == "weight" and cube
    ]
    last = own[-1]["cubes"].get("dst") or {}
    written = [last.get(key) for key in ("memory", "address", "line_stride", "surf_stride")]
    kinds = [(layer["unit"], layer["summary"].split()[:2]) for layer in own]
    return operation.task, operation.unit, kinds, weights, written


def _cycles(pieces: Pieces) -> int:
    return sum(o.end - o.start for o in pieces)


def _port(name: str, label: str) -> Layer:
    title, _, shape = label.rpartition(" ")
    return Layer(name, title, [shape], "input or output", attributes=[("shape", shape)])


def _box(pieces: Pieces, layers: dict[LayerName, dict[str, Any]], longest: int) -> Layer:
    first, last, cycles = pieces[0], pieces[-1], _cycles(pieces)
    own = [layers[first.task, number] for number in first.layers]
    several = len(pieces) > 1
    longest_piece = max(pieces, key=lambda o: o.end - o.start)
    numbers = f"{first.layers[0]} ... {last.layers[-1]}" if several else str(first.layers[0])
    lines = [f"{layer['unit']} {layer['summary']}" for layer in own]
    macs = sum(o.macs for o in pieces)
    used = sum(o.mac_utilization * (o.end - o.start) for o in pieces) / max(cycles, 1)
    attributes = [
        ("operations", f"{first.index} to {last.index}" if several else str(first.index)),
        ("layers", f"{first.layers[0]} to {last.layers[-1]} of task {first.task}"),
        *((layer["unit"], layer["summary"]) for layer in own),
        ("shapes (c x h x w)", first.shapes + (" and so on" if several else "")),
        ("precision", first.precision),
        ("cycles", f"{cycles:,} ({first.start:,} to {last.end:,})"),
        ("bound by", longest_piece.bound + (" (the longest piece)" if several else "")),
        ("MACs", f"{macs:,}, used {used:.1%}" if macs else ""),
        ("bytes read", f"{sum(o.bytes_read for o in pieces):,}"),
        ("bytes written", f"{sum(o.bytes_written for o in pieces):,}"),
    ]
    told = f"{cycles:,} cycles" + (f", {len(pieces)} pieces" if several else "")
    return Layer(
        str(first.index),
        f"{numbers} {first.unit}",
        [*lines, told],
        f"bound by {longest_piece.bound}",
        cycles / max(longest, 1),
        [str(o.index) for o in pieces],
        [(key, value) for key, value in attributes if value],
    )
