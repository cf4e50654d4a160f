"""Operators that only say where elements lie: they change views and move nothing."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from ...errors import Unsupported
from ...graph import ChannelGather, Concat, Reshape, Resize, Value
from ..builder import Builder, identity, in_order, layouts, usual_layout
from ..tensors import Constant, Item, Tensor
from ..views import View, arranged, grouped
from .registry import Call, axis_of, operator

REAL_TYPES = ("float32", "float16", "float64", "bfloat16")
"""Element types that are real numbers here; the others have steps of their own."""


@operator("Identity", "Dropout", integers=True)
def _identity(call: Call) -> Item | list[Item]:
    x = call.tensor()
    if call.op == "Dropout" and call.given(2):
        training = call.constant(2, "training_mode")
        if bool(training.array.reshape(-1)[0]):
            raise Unsupported("it drops elements at random (training_mode)", "export for inference")
    if call.wants(1):
        return [x, Constant(np.ones(x.shape, bool))]
    return x


@operator("Cast", "CastLike", integers=True)
def _cast(call: Call) -> Item:
    import onnx

    x = call.item(0)
    if call.op == "Cast":
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(call.attribute("to"))).name
    else:
        like = call.item(1)
        dtype = like.array.dtype.name if isinstance(like, Constant) else like.dtype
    if isinstance(x, Constant):  # CastLike something that is computed at run time
        return Constant(x.array.astype(dtype), x.steps, x.axis)
    if x.dtype in REAL_TYPES and dtype not in REAL_TYPES:
        raise Unsupported(
            f"it makes {dtype} from real numbers at run time", "leave that to the host"
        )
    if x.quantized is not None:
        raise Unsupported("it takes quantised integers as numbers", "use DequantizeLinear")
    return replace(x, dtype=dtype)


@operator("Shape", integers=True)
def _shape(call: Call) -> Item:
    shape = call.tensor().shape
    return Constant(
        np.array(shape[slice(call.attribute("start"), call.attribute("end"))], np.int64)
    )


@operator("Size", integers=True)
def _size(call: Call) -> Item:
    return Constant(np.array(np.prod(call.tensor().shape, dtype=np.int64)))


@operator("Transpose", integers=True)
def _transpose(call: Call) -> Item:
    x = call.tensor()
    order = call.attribute("perm") or list(range(x.rank))[::-1]
    if sorted(order) != list(range(x.rank)):
        raise Unsupported(f"its perm {order} does not fit {x.rank} dimensions")
    return x.viewed(x.view.transpose(order))


@operator("Reshape", integers=True)
def _reshape(call: Call) -> Item:
    x = call.tensor()
    asked = call.ints("shape", 1) or []
    keep_zero = bool(call.attribute("allowzero", 0))
    sizes = [
        x.shape[i] if size == 0 and not keep_zero and i < x.rank else size
        for i, size in enumerate(asked)
    ]
    if -1 in sizes:
        known = int(np.prod([s for s in sizes if s != -1], dtype=np.int64))
        total = int(np.prod(x.shape, dtype=np.int64))
        sizes[sizes.index(-1)] = total // known if known else 0
    return reshaped(call.build, x, sizes)


@operator("Flatten", integers=True)
def _flatten(call: Call) -> Item:
    x = call.tensor()
    axis = call.attribute("axis", 1)
    axis = axis + x.rank if axis < 0 else axis
    sizes = [int(np.prod(part, dtype=np.int64)) for part in (x.shape[:axis], x.shape[axis:])]
    return reshaped(call.build, x, sizes)


@operator("Squeeze", integers=True)
def _squeeze(call: Call) -> Item:
    x = call.tensor()
    axes = call.ints("axes", 1)
    if axes is None:
        axes = [i for i, size in enumerate(x.shape) if size == 1]
    axes = [axis_of(axis, x.rank) for axis in axes]
    if any(x.shape[axis] != 1 for axis in axes):
        raise Unsupported(f"it drops dimensions {axes} of {list(x.shape)}")
    return x.viewed(x.view.without(*axes))


@operator("Unsqueeze", integers=True)
def _unsqueeze(call: Call) -> Item:
    x = call.tensor()
    axes = call.ints("axes", 1) or []
    rank = x.rank + len(axes)
    new = {axis_of(axis, rank) for axis in axes}
    if len(new) != len(axes):
        raise Unsupported(f"its axes {axes[:8]} name a dimension twice", "repair the model")
    old = iter(x.view.dims)
    return x.viewed(View(x.view.value, tuple(() if i in new else next(old) for i in range(rank))))


@operator("Expand", integers=True)
def _expand(call: Call) -> Item:
    x = call.tensor()
    asked = call.constant(1, "shape").ints()
    return expanded(call.build, x, np.broadcast_shapes(x.shape, tuple(asked)))


@operator("Tile", integers=True)
def _tile(call: Call) -> Item:
    x = call.tensor()
    repeats = call.constant(1, "repeats").ints()
    for axis, count in enumerate(repeats):
        if count != 1:
            x = concatenated(call.build, [x] * count, axis)
    return x


@operator("DepthToSpace", integers=True)
def _depth_to_space(call: Call) -> Item:
    x = call.tensor()
    block = call.attribute("blocksize")
    n, c, h, w = _four_dimensions(x)
    if c % (block * block):
        raise Unsupported(f"{c} channels are no multiple of {block} x {block}")
    rest = c // block**2
    if call.attribute("mode", "DCR") == "CRD":
        split, order = (n, rest, block, block, h, w), (0, 1, 4, 2, 5, 3)
    else:
        split, order = (n, block, block, rest, h, w), (0, 3, 4, 1, 5, 2)
    moved = reshaped(call.build, x, split)
    moved = moved.viewed(moved.view.transpose(order))
    return reshaped(call.build, moved, (n, rest, h * block, w * block))


@operator("SpaceToDepth", integers=True)
def _space_to_depth(call: Call) -> Item:
    x = call.tensor()
    block = call.attribute("blocksize")
    n, c, h, w = _four_dimensions(x)
    if h % block or w % block:
        raise Unsupported(f"{h} x {w} is no multiple of the block {block}")
    moved = reshaped(call.build, x, (n, c, h // block, block, w // block, block))
    blocks_last = call.attribute("mode", "DCR") == "CRD"
    order = (0, 1, 3, 5, 2, 4) if blocks_last else (0, 3, 5, 1, 2, 4)
    moved = moved.viewed(moved.view.transpose(order))
    return reshaped(call.build, moved, (n, c * block * block, h // block, w // block))


@operator("Concat", integers=True)
def _concat(call: Call) -> Item:
    items = [call.item(i) for i in range(len(call.inputs))]
    shapes = [item.shape for item in items]
    axis = axis_of(call.attribute("axis", 1), len(shapes[0]))
    first = next((item for item in items if isinstance(item, Tensor)), None)
    if first is None:  # of Microsoft's domain: not folded
        raise Unsupported("all of its inputs are constants", "fold it when exporting")
    for item in items:
        if isinstance(item, Tensor) and item.quantized != first.quantized:
            raise Unsupported("its inputs are quantised with different scales", "dequantise first")
    tensors = [
        constant_tensor(call.build, item, first) if isinstance(item, Constant) else item
        for item in items
        if item.shape[axis]
    ]
    return concatenated(call.build, tensors, axis)


def constant_tensor(build: Builder, constant: Constant, like: Tensor) -> Tensor:
    """A constant as a value, made from an input of the network times zero."""
    array = constant.floats()
    source = like.view.value
    groups = usual_layout(array.shape)
    n, c, h, w = (int(np.prod([array.shape[d] for d in g], dtype=np.int64)) for g in groups)
    if n != source.shape[0]:
        raise Unsupported("a constant joins tensors along the batch")
    name = f"{build.target}/constant"
    zero = build.affine(source, 0.0, 0.0, f"{name}/zero")
    rows = np.zeros((h, source.shape[2]), np.float32)
    columns = np.zeros((w, source.shape[3]), np.float32)
    rows[:, 0] = columns[:, 0] = 1
    size = (n, source.shape[1], h, w)
    spread = build.add(
        Resize, [zero], size, f"{name}/size", mode="nearest", rows=rows, columns=columns
    )
    if c != size[1]:
        spread = build.add(
            ChannelGather, [spread], (n, c, h, w), f"{name}/channels", channels=(0,) * c
        )
    view = grouped(spread, array.shape, groups)
    return replace(like, view=view.on(build.affine(spread, 1.0, view.to_value(array), name)))


def _four_dimensions(x: Tensor) -> tuple[int, int, int, int]:
    if x.rank != 4:
        raise Unsupported(f"its input has {x.rank} dimensions, not four")
    n, c, h, w = x.shape
    return n, c, h, w


def reshaped(build: Builder, x: Tensor, sizes: list[int] | tuple[int, ...]) -> Tensor:
    """The tensor under another shape; data only moves where the view cannot express it."""
    count = int(np.prod(x.shape, dtype=np.int64))
    if int(np.prod(sizes, dtype=np.int64)) != count or min(sizes, default=1) < 1:
        raise Unsupported(f"{list(x.shape)} cannot be reshaped to {list(sizes)}")
    view = x.view.reshape(sizes)
    if view is None:
        view = _moved_reshape(build, x, sizes)
    return x.viewed(view)


def _moved_reshape(build: Builder, x: Tensor, sizes: list[int] | tuple[int, ...]) -> View:
    batch = x.view.value.shape[0]
    ordered = build.plain(arranged(x.view, in_order(x.shape, batch)))
    groups = in_order(sizes, batch)
    n, c, h, w = (int(np.prod([sizes[d] for d in g], dtype=np.int64)) for g in groups)
    value = build.add(Reshape, [ordered], (n, c, h, w))
    return grouped(value, sizes, groups)


def expanded(build: Builder, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The tensor repeated along dimensions of one position until it has *shape*."""
    view = View(x.view.value, ((),) * (len(shape) - x.rank) + x.view.dims)
    if view.shape == shape:
        return x.viewed(view)
    fitting = [groups for groups in layouts(shape) if whole_repeats(shape, view.shape, groups)]
    groups = fitting[0] if fitting else usual_layout(shape)
    value = build.plain(arranged(view, groups))
    sizes = [int(np.prod([shape[d] for d in g], dtype=np.int64)) for g in groups]
    for axis, (size, group) in enumerate(zip(sizes, groups, strict=True)):
        part = [view.shape[d] for d in group]
        if value.shape[axis] != size and int(np.prod(part)) != 1:
            raise Unsupported(f"it repeats part of {part}", "repeat whole dimensions")
    return x.viewed(grouped(spread(build, value, sizes), shape, groups))


def whole_repeats(shape: tuple[int, ...], small: tuple[int, ...], groups: list[list[int]]) -> bool:
    """On each axis the smaller tensor is complete or has one position."""
    return all(
        prod(small[d] for d in group) in (1, prod(shape[d] for d in group)) for group in groups
    )


def spread(build: Builder, x: Value, sizes: list[int]) -> Value:
    """Repeats axes of one position up to *sizes* (n, c, h, w)."""
    n, c, h, w = x.shape
    if any(before not in (1, after) for before, after in zip(x.shape, sizes, strict=True)):
        raise Unsupported(f"it repeats a part of {list(x.shape)} to {sizes}")
    if n != sizes[0]:
        raise Unsupported("it repeats along the batch", "use a batch of one picture")
    if (h, w) != (sizes[2], sizes[3]):
        rows = np.ones((sizes[2], 1), np.float32) if h == 1 else identity(h)
        columns = np.ones((sizes[3], 1), np.float32) if w == 1 else identity(w)
        size = (n, c, sizes[2], sizes[3])
        name = f"{build.target}/spread"
        x = build.add(Resize, [x], size, name, mode="nearest", rows=rows, columns=columns)
    if c != sizes[1]:
        size = (n, sizes[1], sizes[2], sizes[3])
        name = f"{build.target}/channels"
        x = build.add(ChannelGather, [x], size, name, channels=(0,) * sizes[1])
    return x


def concatenated(build: Builder, tensors: list[Tensor], axis: int) -> Tensor:
    """Tensors one behind the other along dimension *axis*."""
    if len(tensors) == 1:
        return tensors[0]
    groups, place = _concat_layout(tensors, axis)
    values = [build.plain(arranged(t.view, groups)) for t in tensors]
    size = list(values[0].shape)
    size[place] = sum(value.shape[place] for value in values)
    if place == 0:
        raise Unsupported("it joins along the batch", "use a batch of one picture")
    shape = list(tensors[0].shape)
    shape[axis] = sum(t.shape[axis] for t in tensors)
    channels = _interleaved(tensors, groups[place], axis)
    if channels is None:
        joined = build.add(Concat, values, size, axis=place)
    else:
        joined = build.add(Concat, values, size, f"{build.target}/joined", axis=place)
        joined = build.add(ChannelGather, [joined], size, channels=channels)
    return tensors[0].viewed(grouped(joined, shape, groups))


def _interleaved(tensors: list[Tensor], group: list[int], axis: int) -> tuple[int, ...] | None:
    """Where the joined dimension is not the outermost of its group: the order in which its
    elements come from the tensors laid one behind the other."""
    if group[0] == axis:
        return None
    parts, start = [], 0
    for tensor in tensors:
        sizes = [tensor.shape[d] for d in group]
        count = int(np.prod(sizes))
        parts.append(np.arange(start, start + count).reshape(sizes))
        start += count
    return tuple(int(i) for i in np.concatenate(parts, group.index(axis)).reshape(-1))


def _concat_layout(tensors: list[Tensor], axis: int) -> tuple[list[list[int]], int]:
    """Groups of dimensions for n, c, h, w in which the tensors lie already, if there are any, and
    the axis that *axis* becomes there. The joined dimension must be outermost in its group, except
    among channels."""
    usual = usual_layout(tensors[0].shape)
    for tensor in tensors:
        groups = own_layout(tensor)
        if groups is None:
            continue
        if axis in groups[0] and all(t.shape[axis] == 1 for t in tensors):
            groups[0].remove(axis)  # a new dimension (torch.stack): outside of the channels
            groups[1].insert(0, axis)
        for place, group in enumerate(groups):
            if axis in group and place and (group[0] == axis or place == 1):
                return groups, place
    place = next((i for i, group in enumerate(usual) if group and group[0] == axis), 0)
    if not place:
        others = [d for d in range(tensors[0].rank) if d != axis]
        if tensors[0].shape[axis] > 0 and len(others) <= 3:
            return [[], [axis], others[:1], others[1:]], 1
    return usual, place


def own_layout(tensor: Tensor) -> list[list[int]] | None:
    """Which dimensions make up each axis of the tensor's value, if whole dimensions do."""
    groups: list[list[int]] = [[], [], [], []]
    empty = []
    for d, dim in enumerate(tensor.view.dims):
        axes = {digit.axis for digit in dim}
        if len(axes) > 1:
            return None
        if axes:
            groups[axes.pop()].append(d)
        else:
            empty.append(d)
    for axis, group in enumerate(groups):
        group.sort(key=lambda d: -tensor.view.dims[d][0].stride)
        digits = tuple(digit for d in group for digit in tensor.view.dims[d])
        if digits != tensor.view.axis_digits(axis):
            return None
    # dimensions of one position go where the usual layout has them, if that axis is free
    usual = usual_layout(tensor.shape)
    for d in empty:
        place = next(i for i, group in enumerate(usual) if d in group)
        if groups[place]:
            place = next((i for i in (1, 2, 3) if not groups[i]), place)
        groups[place].insert(0, d)
    return groups
