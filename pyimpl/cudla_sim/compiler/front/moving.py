"""Tensors that operations need as [n, c, h, w] although their value lies otherwise.

What only permutes channels becomes a ChannelGather, what trades channels for pixels DepthToSpace
or SpaceToDepth; the rest is one Transpose between two Reshapes. Which it is follows from the
digits of the view, that is from where each element ends up, not from the model's operators.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from ..errors import Unsupported
from ..graph import (
    ChannelGather,
    DepthToSpace,
    Reshape,
    Shape,
    SpaceToDepth,
    Transpose,
    Value,
)
from .nodes import Nodes
from .views import Digit, View, whole


def move(build: Nodes, view: View) -> Value:
    """The value that holds *view* (four dimensions) as [n, c, h, w]."""
    for fits, way in _WAYS:
        if fits(view):
            return way(build, view)
    return _transpose(build, view)


def is_cheap(view: View) -> bool:
    """Every configuration can move it: channels permute or trade with pixels."""
    return any(fits(view) for fits, _ in _WAYS)


def _gather(build: Nodes, x: Value, channels: list[int]) -> Value:
    if channels == list(range(x.shape[1])):
        return x
    n, _, h, w = x.shape
    name = f"{build.target or x.name}/channels"
    return build.add(ChannelGather, [x], (n, len(channels), h, w), name, channels=tuple(channels))


def _order(digits: tuple[Digit, ...]) -> list[int]:
    """Where the elements of digits of one axis lie in it, in the order of the digits."""
    index = np.zeros((), np.int64)
    for digit in digits:
        index = index[..., None] + np.arange(digit.size) * digit.stride
    return [int(x) for x in index.reshape(-1)]


def _only_channels(view: View) -> bool:
    """Only channels change places."""
    return all(view.dims[axis] == whole(view.value.shape, axis) for axis in (0, 2, 3))


def _channels(build: Nodes, view: View) -> Value:
    return _gather(build, view.value, _order(view.dims[1]))


def _to_pixels(view: View) -> bool:
    """Digits of channels at the end of h and of w, of one size."""
    shape = view.value.shape
    if view.dims[0] != whole(shape, 0) or any(d.axis != 1 for d in view.dims[1]):
        return False
    blocks = []
    for axis in (2, 3):
        dim, own = view.dims[axis], whole(shape, axis)
        if dim[: len(own)] != own or len(dim) != len(own) + 1 or dim[-1].axis != 1:
            return False
        blocks.append(dim[-1].size)
    return blocks[0] == blocks[1]


def _depth_to_space(build: Nodes, view: View) -> Value:
    y, x = view.dims[2][-1], view.dims[3][-1]
    block = y.size
    n, c, h, w = view.value.shape
    stays = view.dims[1]
    source = view.value
    is_crd = _order((*stays, y, x)) == list(range(c))
    if not is_crd:
        source = _gather(build, source, _order((y, x, *stays)))
    size = (n, c // block**2, h * block, w * block)
    name = f"{build.target or source.name}/pixels"
    return build.add(DepthToSpace, [source], size, name, block=block, crd=is_crd)


def _to_channels(view: View) -> bool:
    """The last digits of h and of w, of one size, lie among the channels."""
    shape = view.value.shape
    if view.dims[0] != whole(shape, 0):
        return False
    blocks = []
    for axis in (2, 3):
        mine = [d for d in view.dims[1] if d.axis == axis]
        if len(mine) != 1 or mine[0].stride != 1:
            return False
        block, size = mine[0].size, shape[axis] // mine[0].size
        if view.dims[axis] != ((Digit(axis, block, size),) if size > 1 else ()):
            return False
        blocks.append(block)
    return blocks[0] == blocks[1]


def _space_to_depth(build: Nodes, view: View) -> Value:
    n, c, h, w = view.value.shape
    block = next(d.size for d in view.dims[1] if d.axis == 2)
    shape = (n, c * block * block, h // block, w // block)
    name = f"{build.target or view.value.name}/blocks"
    x = build.add(SpaceToDepth, [view.value], shape, name, block=block)
    # now channel = (y, x, c); the view's order of the same digits
    strides = {1: 1, 2: block * c, 3: c}
    as_channels = tuple(
        Digit(1, strides[d.axis] * (d.stride if d.axis == 1 else 1), d.size) for d in view.dims[1]
    )
    return _gather(build, x, _order(as_channels))


_WAYS: tuple[tuple[Callable[[View], bool], Callable[[Nodes, View], Value]], ...] = (
    (_only_channels, _channels),
    (_to_pixels, _depth_to_space),
    (_to_channels, _space_to_depth),
)


def _transpose(build: Nodes, view: View) -> Value:
    """Reshape, Transpose, Reshape; where three groups do not suffice, several Transposes."""
    shape = view.value.shape
    if view.dims[0] != whole(shape, 0):
        raise Unsupported(
            "it would move data between the pictures of a batch", "use a batch of one picture"
        )
    strides = [prod(shape[axis + 1 :]) for axis in range(4)]
    groups: list[tuple[int, int]] = []  # (stride in the value, size), in the order of the tensor
    for digit in (d for dim in view.dims[1:] for d in dim):
        stride = strides[digit.axis] * digit.stride
        if groups and groups[-1][0] == stride * digit.size:
            groups[-1] = (stride, groups[-1][1] * digit.size)
        else:
            groups.append((stride, digit.size))
    x, lies = view.value, sorted(groups, reverse=True)
    name = f"{build.target or x.name}/moved"
    moves = _moves(lies, groups)
    if len(moves) > 1:
        build.note(f"{build.node}: its data is rearranged in {len(moves)} steps")
    for order, sizes in moves:
        x = reshape(build, x, (shape[0], *sizes), name)
        moved = (0, *(axis + 1 for axis in order))
        x = build.add(Transpose, [x], [x.shape[axis] for axis in moved], name, order=moved)
    n, c, h, w = view.shape
    return reshape(build, x, (n, c, h, w), name)


def _moves(
    lies: list[tuple[int, int]], wanted: list[tuple[int, int]]
) -> list[tuple[tuple[int, int, int], tuple[int, int, int]]]:
    """Orders and sizes of transposes of three axes that bring *lies* into the order *wanted*."""
    if lies == wanted:
        return []
    if len(lies) <= 3:
        sizes = [size for _, size in lies] + [1] * (3 - len(lies))
        order = [lies.index(group) for group in wanted] + list(range(len(lies), 3))
        return [((order[0], order[1], order[2]), (sizes[0], sizes[1], sizes[2]))]
    # move groups to the front, the outermost last; those at the end of *wanted* that already
    # follow each other stay
    stays = len(wanted)
    place = len(lies)
    while stays and lies.index(wanted[stays - 1]) < place:
        stays -= 1
        place = lies.index(wanted[stays])
    moves = []
    for group in reversed(wanted[:stays]):
        at = lies.index(group)
        before = prod(size for _, size in lies[:at])
        after = prod(size for _, size in lies[at + 1 :])
        if at:
            moves.append(((1, 0, 2), (before, group[1], after)))
        lies = [group, *lies[:at], *lies[at + 1 :]]
    return moves


def reshape(build: Nodes, x: Value, shape: Shape, name: str) -> Value:
    """The same elements under another shape."""
    return x if x.shape == shape else build.add(Reshape, [x], shape, name)
