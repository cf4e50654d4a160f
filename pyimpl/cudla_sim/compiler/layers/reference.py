"""What layers compute in real numbers, in numpy: for calibration and for comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.facts.windows import extent

from .. import graph as g
from ..curves import CURVES

Array = NDArray[np.float32]

POOLS: dict[str, tuple[float, Callable[..., Any]]] = {
    "average": (0.0, np.mean),
    "max": (-np.inf, np.max),
    "min": (np.inf, np.min),
}
"""Methods of pooling: what padding counts as, and what is made of a window."""


def run(nodes: Iterable[g.Node], inputs: Mapping[g.Value, Array]) -> dict[g.Value, Array]:
    """Every value of a network, [n, c, h, w], from its inputs."""
    values = dict(inputs)
    for node in nodes:
        values[node.output] = _FUNCTIONS[type(node)](node, *[values[item] for item in node.inputs])
    return values


def _windows(node: g.Conv | g.Pool, x: Array, size: g.Pair, gaps: g.Pair, fill: float) -> Any:
    """For each place (row, column) of a window, what all windows have there [n, c, oh, ow]."""
    (top, bottom, left, right), (sy, sx) = node.pads, node.stride
    _, _, height, width = node.output.shape
    reach = [
        max((out - 1) * step + extent(count, gap) - length - before, after)
        for out, step, count, gap, length, before, after in (
            (height, sy, size[0], gaps[0], x.shape[2], top, bottom),
            (width, sx, size[1], gaps[1], x.shape[3], left, right),
        )
    ]
    frame = ((0, 0), (0, 0), (top, reach[0]), (left, reach[1]))
    padded = np.pad(x, frame, constant_values=fill)
    for row, column in product(range(size[0]), range(size[1])):
        y, x0 = row * gaps[0], column * gaps[1]
        lines = padded[:, :, y : y + (height - 1) * sy + 1 : sy]
        yield row, column, lines[:, :, :, x0 : x0 + (width - 1) * sx + 1 : sx]


def _conv(node: g.Conv, x: Array) -> Array:
    result = np.zeros((len(x), *node.output.shape[1:]), np.float32)
    size = (node.weights.shape[2], node.weights.shape[3])
    for row, column, part in _windows(node, x, size, node.dilation, 0.0):
        taps = node.weights[:, :, row, column]
        result += np.einsum("nchw,kc->nkhw", part, taps, optimize=True)
    return result + node.bias[None, :, None, None]


def _deconv(node: g.Deconv, x: Array) -> Array:
    """Without pads and groups, as layers have it."""
    _, _, height, width = x.shape
    _, kernels, rows, columns = node.weights.shape
    (sy, sx), (_, _, oh, ow) = node.stride, node.output.shape
    result = np.zeros((len(x), kernels, oh, ow), np.float32)
    for row, column in product(range(rows), range(columns)):
        part = np.einsum("nchw,ck->nkhw", x, node.weights[:, :, row, column], optimize=True)
        lines = result[:, :, row : row + (height - 1) * sy + 1 : sy]
        lines[:, :, :, column : column + (width - 1) * sx + 1 : sx] += part
    return result + node.bias[None, :, None, None]


def _pool(node: g.Pool, x: Array) -> Array:
    fill, reduce = POOLS[node.mode]
    parts = [part for _, _, part in _windows(node, x, node.kernel, (1, 1), fill)]
    return np.asarray(reduce(np.stack(parts), axis=0))


def _lrn(node: g.Lrn, x: Array) -> Array:
    real, reach = x.astype(np.float64), node.size // 2
    frame = np.pad(real * real, ((0, 0), (reach, reach), (0, 0), (0, 0)))
    squares = sum(frame[:, step : step + x.shape[1]] for step in range(node.size))
    return np.asarray(real * node.factor(np.asarray(squares)), np.float32)


def _softmax(node: g.Softmax, x: Array) -> Array:
    shifted = np.exp(x - x.max(axis=node.axis, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=node.axis, keepdims=True))


def _curve(node: g.Curve, x: Array) -> Array:
    real = CURVES[node.function](x.astype(np.float64), **node.parameters)
    return np.asarray(real, np.float32)


_FUNCTIONS: dict[type[g.Node], Callable[..., Array]] = {
    g.Conv: _conv,
    g.Deconv: _deconv,
    g.Affine: lambda node, x: x * node.scale + node.shift,
    g.Binary: lambda node, first, second: first + second,
    g.Clip: lambda node, x: np.clip(x, node.low, node.high),
    g.Curve: _curve,
    g.Pool: _pool,
    g.Lrn: _lrn,
    g.Softmax: _softmax,
}
