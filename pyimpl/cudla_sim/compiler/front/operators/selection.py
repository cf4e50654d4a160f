"""Parts of tensors: Slice, Split, Gather; and their opposite, Pad."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import Unsupported
from ...graph import ChannelGather, Pad, Resize, Slice, Value
from ..builder import Builder, identity, in_order
from ..tensors import Constant, Item, Several, Tensor
from ..views import Digit, View, arranged, grouped
from .arrangement import expanded, own_layout
from .registry import CONVERTERS, Call, axis_of, operator


@operator("Slice", integers=True)
def _slice(call: Call) -> Item:
    x = call.tensor()
    starts, ends = call.ints("starts", 1) or [], call.ints("ends", 2) or []
    axes = call.ints("axes", 3, list(range(len(starts)))) or []
    steps = call.ints("steps", 4, [1] * len(starts)) or []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        at = axis_of(axis, x.rank)
        if step == 0:
            raise Unsupported("its step is 0", "repair the model")
        # ends beyond either side mean the side itself
        limit = None if step < 0 and end < -x.shape[at] else end
        chosen = list(range(x.shape[at]))[slice(start, limit, step)]
        x = selected(call.build, x, at, chosen)
    return x


@operator("Split", integers=True)
def _split(call: Call) -> list[Item]:
    x = call.tensor()
    axis = axis_of(call.attribute("axis", 0), x.rank)
    count = len(call.outputs)
    sizes = call.ints("split", 1)
    if sizes is None:
        part = -(-x.shape[axis] // count)
        sizes = [min(part, x.shape[axis] - part * i) for i in range(count)]
    return _parts(call, x, axis, sizes, call.outputs)


@operator("SplitToSequence", integers=True)
def _split_to_sequence(call: Call) -> Several:
    x = call.tensor()
    axis = axis_of(call.attribute("axis", 0), x.rank)
    length = x.shape[axis]
    given = call.optional(1, "split")
    sizes = [1] * length
    if given is not None and given.array.ndim == 0:
        part = given.ints()[0]
        sizes = [min(part, length - start) for start in range(0, length, part)]
    elif given is not None:
        sizes = given.ints()
    names = [f"{call.outputs[0]}/{i}" for i in range(len(sizes))]
    parts = _parts(call, x, axis, sizes, names)
    if given is None and not call.attribute("keepdims", 1):
        parts = [p.viewed(p.view.without(axis)) for p in parts if isinstance(p, Tensor)]
    return Several(tuple(parts))


@operator("SequenceConstruct", integers=True)
def _sequence(call: Call) -> Several:
    return Several(tuple(call.item(i) for i in range(len(call.inputs))))


@operator("SequenceAt", integers=True)
def _sequence_at(call: Call) -> Item:
    items = call.several(0).items
    at = call.constant(1, "position").ints()[0]
    if not -len(items) <= at < len(items):
        raise Unsupported(f"position {at} of {len(items)} tensors", "repair the model")
    return items[at]


@operator("ConcatFromSequence", integers=True)
def _concat_from_sequence(call: Call) -> Item:
    items = call.several(0).items
    if call.attribute("new_axis", 0):
        raise Unsupported("it stacks along a new axis", "use Unsqueeze and Concat")
    inner = replace(call, op="Concat", inputs=list(items))
    result = CONVERTERS["", "Concat"](inner)
    assert isinstance(result, Constant | Tensor)
    return result


def _parts(call: Call, x: Tensor, axis: int, sizes: list[int], names: list[str]) -> list[Item]:
    """Consecutive parts along an axis."""
    if sum(sizes) != x.shape[axis] or len(sizes) != len(names) or min(sizes) < 0:
        raise Unsupported(f"its parts {sizes} do not make {x.shape[axis]}", "repair the model")
    found: list[Item] = []
    start = 0
    for name, size in zip(names, sizes, strict=True):
        call.build.target = name or names[0]
        chosen = list(range(start, start + size))
        # a part that nobody reads costs nothing: dead nodes are removed
        found.append(selected(call.build, x, axis, chosen) if size else _empty(x, axis))
        start += size
    return found


def _empty(x: Tensor, axis: int) -> Item:
    shape = list(x.shape)
    shape[axis] = 0
    return Constant(np.zeros(shape, np.float32))


@operator("Gather", integers=True)
def _gather(call: Call) -> Item:
    x = call.tensor()
    indices = call.constant(1, "indices").array
    axis = axis_of(call.attribute("axis", 0), x.rank)
    length = x.shape[axis]
    chosen = [int(i) + length if i < 0 else int(i) for i in indices.reshape(-1)]
    if any(not 0 <= i < length for i in chosen):
        raise Unsupported(f"an index lies outside {length}", "repair the model")
    result = selected(call.build, x, axis, chosen)
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    view = result.view.reshape(shape)
    if view is None:
        raise Unsupported("its indices have a shape that the result cannot have")
    return x.viewed(view)


@operator("GatherND", "GatherElements", "ScatterND", "ScatterElements", "OneHot")
def _general(call: Call) -> Item:
    raise Unsupported("it picks elements one by one", "use Slice, Split or Gather")


def selected(build: Builder, x: Tensor, axis: int, chosen: list[int]) -> Tensor:
    """The positions *chosen* of dimension *axis*, in that order."""
    if chosen == list(range(x.shape[axis])):
        return x
    if not chosen:
        raise Unsupported("its result is empty", "repair the model")
    at = x.view.axis_of(axis)
    if x.shape[axis] == 1:
        shape = (*x.shape[:axis], len(chosen), *x.shape[axis + 1 :])
        return expanded(build, x, shape)
    if at is None or at == 0:
        part = _part_of_channels(build, x, axis, chosen)
        if part is not None:
            return part
        groups = _with_own_axis(x, axis)
        value = build.plain(arranged(x.view, groups))
        x = x.viewed(grouped(value, x.shape, groups))
        at = next(i for i, group in enumerate(groups) if axis in group)
    if at == 0:
        raise Unsupported("it selects from the batch", "use a batch of one picture")
    value = _selected_axis(build, x.view.value, at, chosen)
    dims = list(x.view.dims)
    dims[axis] = (Digit(at, 1, len(chosen)),) if len(chosen) > 1 else ()
    return x.viewed(View(value, tuple(dims)))


def _selected_axis(build: Builder, x: Value, axis: int, chosen: list[int]) -> Value:
    size = list(x.shape)
    size[axis] = len(chosen)
    step = chosen[1] - chosen[0] if len(chosen) > 1 else 1
    regular = step > 0 and chosen == list(range(chosen[0], chosen[-1] + 1, step))
    if regular and (axis != 1 or step == 1):
        starts, steps = [0, 0, 0], [1, 1, 1]
        starts[axis - 1], steps[axis - 1] = chosen[0], step
        return build.add(Slice, [x], size, starts=tuple(starts), steps=tuple(steps))
    if axis == 1:
        return build.add(ChannelGather, [x], size, channels=tuple(chosen))
    matrices = [identity(length) for length in x.shape[2:]]
    matrices[axis - 2] = matrices[axis - 2][chosen]
    return build.add(Resize, [x], size, mode="nearest", rows=matrices[0], columns=matrices[1])


def _part_of_channels(build: Builder, x: Tensor, axis: int, chosen: list[int]) -> Tensor | None:
    """A dimension that is a part of the channels (85 of 3 x 85)."""
    dim = x.view.dims[axis]
    if {digit.axis for digit in dim} != {1}:
        return None
    outer = [digit for digit in x.view.axis_digits(1) if digit not in dim]
    index = np.zeros((), np.int64)
    for digit in (*outer, *dim):
        index = index[..., None] + np.arange(digit.size) * digit.stride
    table = index.reshape(-1, x.shape[axis])[:, chosen].reshape(-1)
    n, _, h, w = x.view.value.shape
    channels = [int(i) for i in table]
    value = _selected_axis(build, x.view.value, 1, channels)
    assert value.shape == (n, len(channels), h, w)
    # strides of the digits in the new order of channels: outer digits, then the chosen ones
    stride = len(channels)
    new: dict[tuple[int, int], Digit] = {}
    for digit in outer:
        stride //= digit.size
        new[digit.axis, digit.stride] = Digit(1, stride, digit.size)
    dims = [
        tuple(new.get((d.axis, d.stride), d) if d.axis == 1 else d for d in other)
        for other in x.view.dims
    ]
    dims[axis] = (Digit(1, 1, len(chosen)),) if len(chosen) > 1 else ()
    return x.viewed(View(value, tuple(dims)))


def _with_own_axis(x: Tensor, axis: int) -> list[list[int]]:
    """Groups in which *axis* is alone in one of c, h and w."""
    for groups in (own_layout(x), in_order(x.shape, x.view.value.shape[0])):
        if groups and any(group == [axis] for group in groups[1:]):
            return groups
    before = [d for d in range(x.rank) if d < axis]
    after = [d for d in range(x.rank) if d > axis]
    return [[], before, [axis], after]


@operator("Pad", integers=True)
def _pad(call: Call) -> Item:
    x = call.tensor()
    mode = call.attribute("mode", "constant")
    amounts = call.ints("pads", 1) or []
    value = call.number("value", 2, 0.0) or 0.0
    axes = call.ints("axes", 3, list(range(x.rank))) or []
    axes = [axis_of(axis, x.rank) for axis in axes]
    if len(amounts) != 2 * len(axes):
        raise Unsupported(f"{len(amounts)} pads for {len(axes)} dimensions", "repair the model")
    if mode not in ("constant", "edge", "reflect"):
        raise Unsupported(f"its mode {mode!r} has no hardware", "use constant, edge or reflect")
    sides = {axis: (amounts[i], amounts[i + len(axes)]) for i, axis in enumerate(axes)}
    for axis, (before, after) in sides.items():
        if before < 0 or after < 0:  # crops
            length = x.shape[axis]
            x = selected(call.build, x, axis, list(range(length))[max(-before, 0) :
                         length - max(-after, 0)])  # fmt: skip
    sides = {a: (max(b, 0), max(e, 0)) for a, (b, e) in sides.items() if b > 0 or e > 0}
    return _padded(call, x, sides, mode, value) if sides else x


def _padded(
    call: Call, x: Tensor, sides: dict[int, tuple[int, int]], mode: str, value: float
) -> Tensor:
    if x.quantized is not None:
        value = (value - x.quantized.zero) * x.quantized.scale
    groups = own_layout(x)
    if (
        groups is None
        or any(len(group) > 1 and any(d in sides for d in group) for group in groups)
        or any(d in groups[0] for d in sides)
    ):
        groups = in_order(x.shape, x.view.value.shape[0]) if x.rank <= 4 else None
    if groups is None or any(len(g) > 1 and any(d in sides for d in g) for g in groups):
        raise Unsupported("it pads a tensor of more than four dimensions", "pad before Reshape")
    pads = [(0, 0)] * 4
    for place, group in enumerate(groups):
        for d in group:
            pads[place] = sides.get(d, pads[place])
    if pads[0] != (0, 0):
        raise Unsupported("it pads the batch", "use a batch of one picture")
    source = call.build.plain(arranged(x.view, groups))
    if pads[1] != (0, 0) and mode != "constant":
        source = _edge_channels(call.build, source, pads[1], mode)
        pads[1] = (0, 0)
    n, c, h, w = (s + b + e for s, (b, e) in zip(source.shape, pads, strict=True))
    around = (*pads[2], *pads[3])
    if around != (0, 0, 0, 0) or pads[1] != (0, 0):
        source = call.build.add(
            Pad, [source], (n, c, h, w), pads=around, mode=mode, value=value, channels=pads[1]
        )
    shape = [size + sum(sides.get(d, (0, 0))) for d, size in enumerate(x.shape)]
    return replace(x, view=grouped(source, shape, groups))


def _edge_channels(build: Builder, x: Value, pads: tuple[int, int], mode: str) -> Value:
    channels = np.pad(np.arange(x.shape[1]), pads, mode=mode)  # type: ignore[call-overload]
    n, _, h, w = x.shape
    name = f"{build.target}/channels"
    chosen = tuple(int(i) for i in channels)
    return build.add(ChannelGather, [x], (n, len(chosen), h, w), name, channels=chosen)
