"""x * scale + shift: merged with each other and with the convolutions around them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph import Affine, Conv, Deconv, Graph, Node, Pool
from ..views import narrowed
from .editing import Editing

Exact = NDArray[np.float64]


def drop_identities(graph: Graph) -> bool:
    """x * 1 + 0, unless it changes the scale of a quantised model. True if there were some."""
    edit = Editing(graph)
    inputs = {port.value for port in graph.inputs}
    for node in edit.nodes():
        if not isinstance(node, Affine) or (node.scale != 1).any() or (node.shift != 0).any():
            continue
        source, result = node.inputs[0], node.output
        if result.scale is not None and source.scale is not None:
            continue
        if result in edit.outputs and (source in inputs or source in edit.outputs):
            continue  # would come back as a copy
        if result.scale is not None:
            source.scale = result.scale
        if result in edit.outputs:
            source.name, result.name = result.name, source.name
        edit.bypass(node)
    return edit.changed


def merge(graph: Graph) -> bool:
    """Two in a row are one. True if there were some."""
    edit = Editing(graph)
    for node in edit.nodes():
        while isinstance(node, Affine) and edit.alive(node):
            reader = edit.only_reader(node.output)
            if not isinstance(reader, Affine):
                break
            scale, shift = _exact(reader)
            before_scale, before_shift = _exact(node)
            _set(node, before_scale * scale, before_shift * scale + shift)
            edit.absorb(node, reader)
    return edit.changed


def fold(graph: Graph) -> bool:
    """Into the weights and bias of a convolution before it, or of one behind it without padding;
    into the divisor of an average. True if something changed."""
    edit = Editing(graph)
    for node in edit.nodes():
        if not edit.alive(node):
            continue
        reader = edit.only_reader(node.output)
        if isinstance(reader, Affine) and _fold_behind(node, reader):
            edit.absorb(node, reader)
        elif isinstance(node, Affine) and isinstance(reader, Conv) and _fold_before(node, reader):
            edit.bypass(node)
    return edit.changed


def _exact(node: Affine) -> tuple[Exact, Exact]:
    return node.scale.astype(np.float64), node.shift.astype(np.float64)


def _set(node: Affine, scale: Exact, shift: Exact) -> None:
    node.scale = narrowed(scale).astype(np.float32)
    node.shift = narrowed(shift).astype(np.float32)


def _per_channel(node: Affine, channels: int) -> tuple[Exact, Exact] | None:
    """Scale and shift for each channel, unless they differ from element to element."""
    found = []
    for part in _exact(node):
        if part.shape[0] != 1 or part.shape[2:] != (1, 1):
            return None
        found.append(np.broadcast_to(part.reshape(-1), channels))
    return found[0], found[1]


def _steps(steps: Exact | None, factor: Exact) -> Exact | None:
    return None if steps is None or (factor == 0).any() else steps * np.abs(factor)


def _fold_behind(node: Node, affine: Affine) -> bool:
    parts = _per_channel(affine, node.output.shape[1])
    if parts is None:
        return False
    scale, shift = parts
    if isinstance(node, Conv):
        node.weights = _scaled(node.weights, scale.reshape(-1, 1, 1, 1))
    elif isinstance(node, Deconv):
        kernels = node.weights.shape[1]
        per_group = scale.reshape(node.groups, 1, kernels, 1, 1)
        c, _, rows, columns = node.weights.shape
        grouped = node.weights.reshape(node.groups, c // node.groups, kernels, rows, columns)
        node.weights = _scaled(grouped, per_group).reshape(node.weights.shape)
    elif isinstance(node, Pool):
        one = np.unique(scale)
        if node.mode != "average" or (shift != 0).any() or one.size != 1 or one[0] <= 0:
            return False
        node.divisor = _divided(node.divisor, float(one[0]))
        return True
    else:
        return False
    node.bias = (node.bias.astype(np.float64) * scale + shift).astype(np.float32)
    node.weight_scale = _steps(node.weight_scale, scale)
    return True


def _divided(divisor: Any, factor: float) -> Any:
    if isinstance(divisor, np.ndarray):
        return (divisor / factor).astype(np.float32)
    return divisor / factor


def _scaled(weights: NDArray[np.float32], factor: Exact) -> NDArray[np.float32]:
    return np.asarray(weights.astype(np.float64) * factor, np.float32)


def _fold_before(affine: Affine, conv: Conv) -> bool:
    channels = affine.output.shape[1]
    parts = _per_channel(affine, channels)
    if parts is None:
        return False
    scale, shift = parts
    if any(conv.pads):
        # outside lies what the affine makes the padding of: only one number for all channels
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = np.unique((conv.pad_value - shift) / scale)
        if outside.size != 1 or not np.isfinite(outside[0]):
            return False
        conv.pad_value = float(outside[0])
    kernels, depth = conv.weights.shape[:2]
    groups = conv.groups
    weights = conv.weights.astype(np.float64).reshape(groups, kernels // groups, depth, -1)
    conv.bias = (
        conv.bias + np.einsum("gkdp,gd->gk", weights, shift.reshape(groups, depth)).reshape(-1)
    ).astype(np.float32)
    weights = weights * scale.reshape(groups, 1, depth, 1)
    conv.weights = weights.reshape(conv.weights.shape).astype(np.float32)
    uniform = np.unique(scale).size == 1
    conv.weight_scale = _steps(conv.weight_scale, scale[:1]) if uniform else None
    return True
