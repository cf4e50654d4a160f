"""What a compiler graph computes, written down naively in float64."""

from __future__ import annotations

from itertools import product

import numpy as np

from cudla_sim.compiler import graph as g
from cudla_sim.compiler.curves import CURVES


def evaluate(graph: g.Graph, inputs: list[np.ndarray]) -> dict[g.Value, np.ndarray]:
    """Return every value, [n, c, h, w] float64."""
    values = {
        port.value: np.asarray(array, np.float64)
        for port, array in zip(graph.inputs, inputs, strict=True)
    }
    for node in graph.nodes:
        arrays = [values[item] for item in node.inputs]
        values[node.output] = FUNCTIONS[type(node)](node, *arrays)
        assert values[node.output].shape == node.output.shape, node.name
    return values


def _conv(node: g.Conv, x: np.ndarray) -> np.ndarray:
    top, bottom, left, right = node.pads
    frame = ((0, 0), (0, 0), (top, bottom), (left, right))
    x = np.pad(x, frame, constant_values=node.pad_value)
    n, k, oh, ow = node.output.shape
    result = np.zeros((n, k, oh, ow))
    per, span = k // node.groups, node.weights.shape[1]
    for group in range(node.groups):
        data = x[:, group * span : (group + 1) * span]
        for r, s in product(range(node.weights.shape[2]), range(node.weights.shape[3])):
            y0, x0 = r * node.dilation[0], s * node.dilation[1]
            part = data[:, :, y0 : y0 + (oh - 1) * node.stride[0] + 1 : node.stride[0]]
            part = part[:, :, :, x0 : x0 + (ow - 1) * node.stride[1] + 1 : node.stride[1]]
            taps = node.weights[group * per : (group + 1) * per, :, r, s].astype(np.float64)
            result[:, group * per : (group + 1) * per] += np.einsum("nchw,kc->nkhw", part, taps)
    return result + np.asarray(node.bias, np.float64)[None, :, None, None]


def _deconv(node: g.Deconv, x: np.ndarray) -> np.ndarray:
    n, channels, height, width = x.shape
    _, per, rows, columns = node.weights.shape
    (sy, sx), (dy, dx) = node.stride, node.dilation
    full = np.zeros(
        (
            n,
            per * node.groups,
            (height - 1) * sy + (rows - 1) * dy + 1 + node.output_padding[0],
            (width - 1) * sx + (columns - 1) * dx + 1 + node.output_padding[1],
        )
    )
    span = channels // node.groups
    for c in range(channels):
        group = c // span
        for h, w, r, s in product(range(height), range(width), range(rows), range(columns)):
            full[:, group * per : (group + 1) * per, h * sy + r * dy, w * sx + s * dx] += (
                x[:, c, h, w][:, None] * node.weights[c, :, r, s][None]
            )
    full += np.asarray(node.bias, np.float64)[None, :, None, None]
    _, _, oh, ow = node.output.shape
    return full[:, :, node.pads[0] : node.pads[0] + oh, node.pads[2] : node.pads[2] + ow]


def _binary(node: g.Binary, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    functions = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "max": np.maximum,
        "min": np.minimum,
    }
    return functions[node.function](a, b)


def _pool(node: g.Pool, x: np.ndarray) -> np.ndarray:
    n, c, oh, ow = node.output.shape
    result = np.zeros((n, c, oh, ow))
    for y, i in product(range(oh), range(ow)):
        y0, x0 = y * node.stride[0] - node.pads[0], i * node.stride[1] - node.pads[2]
        part = x[:, :, max(y0, 0) : y0 + node.kernel[0], max(x0, 0) : x0 + node.kernel[1]]
        reduce = {"max": np.max, "min": np.min, "average": np.sum}[node.mode]
        result[:, :, y, i] = reduce(part, axis=(2, 3))
    return result / np.asarray(node.divisor) if node.mode == "average" else result


def _slice(node: g.Slice, x: np.ndarray) -> np.ndarray:
    for axis, (start, step) in enumerate(zip(node.starts, node.steps, strict=True), 1):
        x = np.take(x, start + step * np.arange(node.output.shape[axis]), axis)
    return x


def _depth_to_space(node: g.DepthToSpace, x: np.ndarray) -> np.ndarray:
    n, c, h, w = x.shape
    b = node.block
    if node.crd:
        moved = x.reshape(n, c // b // b, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        moved = x.reshape(n, b, b, c // b // b, h, w).transpose(0, 3, 4, 1, 5, 2)
    return moved.reshape(n, c // b // b, h * b, w * b)


def _space_to_depth(node: g.SpaceToDepth, x: np.ndarray) -> np.ndarray:
    n, c, h, w = x.shape
    b = node.block
    moved = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return moved.reshape(n, c * b * b, h // b, w // b)


def _pad(node: g.Pad, x: np.ndarray) -> np.ndarray:
    top, bottom, left, right = node.pads
    frame = ((0, 0), node.channels, (top, bottom), (left, right))
    if node.mode == "constant":
        return np.pad(x, frame, constant_values=node.value)
    return np.pad(x, frame, mode=node.mode)


def _lrn(node: g.Lrn, x: np.ndarray) -> np.ndarray:
    reach = (node.size - 1) // 2
    squares = np.pad(x * x, ((0, 0), (reach, node.size - 1 - reach), (0, 0), (0, 0)))
    total = sum(squares[:, i : i + x.shape[1]] for i in range(node.size))
    return x / (node.k + node.alpha / node.size * total) ** node.beta


def _softmax(node: g.Softmax, x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=node.axis, keepdims=True))
    return e / e.sum(axis=node.axis, keepdims=True)


FUNCTIONS = {
    g.Conv: _conv,
    g.Deconv: _deconv,
    g.Affine: lambda node, x: x * node.scale.astype(np.float64) + node.shift,
    g.Binary: _binary,
    g.Clip: lambda node, x: np.clip(x, node.low, node.high),
    g.PRelu: lambda node, x: np.where(x >= 0, x, x * node.slope),
    g.Curve: lambda node, x: CURVES[node.function](x, **node.parameters),
    g.Pool: _pool,
    g.Concat: lambda node, *parts: np.concatenate(parts, node.axis),
    g.Slice: _slice,
    g.ChannelGather: lambda node, x: x[:, list(node.channels)],
    g.DepthToSpace: _depth_to_space,
    g.SpaceToDepth: _space_to_depth,
    g.Resize: lambda node, x: np.einsum("yh,nchw,xw->ncyx", node.rows, x, node.columns),
    g.Pad: _pad,
    g.Lrn: _lrn,
    g.Softmax: _softmax,
    g.Transpose: lambda node, x: x.transpose(node.order),
    g.Reshape: lambda node, x: x.reshape(node.output.shape),
}
