"""Concat of parts of one value: channel shuffles and Focus slices."""

from __future__ import annotations

from ...graph import ChannelGather, Concat, Graph, Node, Slice, SpaceToDepth, Value
from .editing import Editing, joined


def recognise(graph: Graph) -> None:
    """Parts that are put together again become SpaceToDepth or one ChannelGather."""
    for change in (_slices, _chains, _focus, _shuffle):
        edit = Editing(graph)
        for node in edit.nodes():
            if edit.alive(node):
                change(edit, node)


def _channels(edit: Editing, value: Value, source: Value) -> tuple[int, ...] | None:
    """Which channels of *source* the value is, if it is just that."""
    if value is source:
        return tuple(range(source.shape[1]))
    node = edit.makers.get(value)
    if node is None or node.inputs[0] is not source or value.scale is not None:
        return None
    if isinstance(node, ChannelGather):
        return node.channels
    if isinstance(node, Slice) and node.starts[1:] == (0, 0) and node.steps == (1, 1, 1):
        start = node.starts[0]
        same = value.shape[2:] == source.shape[2:]
        return tuple(range(start, start + value.shape[1])) if same else None
    return None


def _chains(edit: Editing, node: Node) -> None:
    """A ChannelGather of a ChannelGather."""
    if not isinstance(node, ChannelGather):
        return
    before = edit.makers.get(node.inputs[0])
    if not isinstance(before, ChannelGather) or edit.only_reader(before.output) is not node:
        return
    channels = tuple(before.channels[i] for i in node.channels)
    if channels == tuple(range(before.inputs[0].shape[1])) and node.output not in edit.outputs:
        edit.bypass(node)
        edit.bypass(before)
        return
    before.channels = channels
    edit.absorb(before, node)


def _slices(edit: Editing, node: Node) -> None:
    """A Slice of a Slice."""
    if not isinstance(node, Slice):
        return
    before = edit.makers.get(node.inputs[0])
    if not isinstance(before, Slice) or before.output.scale is not None:
        return
    starts = [b + s * a for a, b, s in zip(node.starts, before.starts, before.steps, strict=True)]
    steps = [s * a for a, s in zip(node.steps, before.steps, strict=True)]
    whole = Slice(
        name=joined(before.name, node.name),
        inputs=[before.inputs[0]],
        output=node.output,
        starts=(starts[0], starts[1], starts[2]),
        steps=(steps[0], steps[1], steps[2]),
    )
    edit.replace([node], whole)


def _sources(edit: Editing, node: Concat) -> Value | None:
    """The value that all inputs are parts of."""
    found = None
    for value in node.inputs:
        maker = edit.makers.get(value)
        if not isinstance(maker, Slice | ChannelGather) or value.scale is not None:
            return None
        if found is not None and maker.inputs[0] is not found:
            return None
        found = maker.inputs[0]
    return found


def _shuffle(edit: Editing, node: Node) -> None:
    if not isinstance(node, Concat) or node.axis != 1:
        return
    source = _sources(edit, node)
    if source is None:
        return
    channels: list[int] = []
    for value in node.inputs:
        part = _channels(edit, value, source)
        if part is None:
            return
        channels += part
    parts = [edit.makers[value] for value in node.inputs]
    name = joined(*(part.name for part in parts), node.name)
    edit.replace(
        [node],
        ChannelGather(name=name, inputs=[source], output=node.output, channels=tuple(channels)),
    )


def _focus(edit: Editing, node: Node) -> None:
    """All phases of a picture's pixels, joined as channels (YOLOv5's Focus)."""
    if not isinstance(node, Concat) or node.axis != 1:
        return
    source = _sources(edit, node)
    if source is None:
        return
    _, c, h, w = source.shape
    phases: list[tuple[int, int]] = []
    block = 0
    for value in node.inputs:
        part = edit.makers[value]
        if not isinstance(part, Slice) or part.starts[0] or value.shape[1] != c:
            return
        block = block or part.steps[1]
        if part.steps != (1, block, block) or value.shape[2:] != (h // block, w // block):
            return
        phases.append((part.starts[1], part.starts[2]))
    if block < 2 or h % block or w % block or len(phases) != block * block:
        return
    if sorted(phases) != [(y, x) for y in range(block) for x in range(block)]:
        return
    name = joined(*(edit.makers[value].name for value in node.inputs), node.name)
    channels = tuple((y * block + x) * c + i for y, x in phases for i in range(c))
    n = source.shape[0]
    if channels == tuple(range(len(channels))):
        blocks = node.output
    else:
        shape = (n, c * block * block, h // block, w // block)
        blocks = Value(f"{node.output.name}/blocks", shape)
    depth = SpaceToDepth(name=name, inputs=[source], output=blocks, block=block)
    if blocks is node.output:
        edit.replace([node], depth)
        return
    at = edit.graph.nodes.index(node)
    edit.graph.nodes.insert(at, depth)
    edit.makers[blocks], edit.readers[blocks] = depth, []
    edit.readers[source].append(depth)
    gather = ChannelGather(name=name, inputs=[blocks], output=node.output, channels=channels)
    edit.replace([node], gather)
