"""Each operation of a graph, compiled for several configurations, computes what numpy says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cudla_sim.compiler import graph as g

from .running import compare, graph_of

TARGETS = [
    ("nv_small", "int8"),
    ("nv_large", "int8"),
    ("nv_full", "int8"),
    ("nv_full", "int16"),
    ("nv_full", "fp16"),
]
rng = np.random.default_rng(3)
Maker = Callable[[g.Value], g.Node]


def f32(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (rng.normal(size=shape) * scale).astype(np.float32)


def conv(x: g.Value, kernels: int, kernel: int = 3, **more: object) -> g.Conv:
    groups = int(more.get("groups", 1))  # type: ignore[call-overload]
    stride, pads = more.get("stride", (1, 1)), more.get("pads", (0, 0, 0, 0))
    gap = more.get("dilation", (1, 1))
    n, c, h, w = x.shape
    taps = [(kernel - 1) * step + 1 for step in gap]  # type: ignore[union-attr]
    oh = (h + pads[0] + pads[1] - taps[0]) // stride[0] + 1  # type: ignore[index]
    ow = (w + pads[2] + pads[3] - taps[1]) // stride[1] + 1  # type: ignore[index]
    weights = f32(kernels, c // groups, kernel, kernel, scale=0.5)
    out = g.Value("y", (n, kernels, oh, ow))
    return g.Conv(name="conv", inputs=[x], output=out, weights=weights, bias=f32(kernels), **more)  # type: ignore[arg-type]


def deconv(x: g.Value, kernels: int, kernel: int, stride: int, **more: object) -> g.Deconv:
    pads, extra = more.get("pads", (0, 0, 0, 0)), more.get("output_padding", (0, 0))
    groups, gap = int(more.get("groups", 1)), more.get("dilation", (1, 1))  # type: ignore[call-overload]
    n, c, h, w = x.shape
    size = [
        (length - 1) * stride + (kernel - 1) * gap[a] + 1 + extra[a] - pads[2 * a] - pads[2 * a + 1]  # type: ignore[index]
        for a, length in enumerate((h, w))
    ]
    return g.Deconv(
        name="deconv",
        inputs=[x],
        output=g.Value("y", (n, kernels, size[0], size[1])),
        weights=f32(c, kernels // groups, kernel, kernel, scale=0.5),
        bias=f32(kernels),
        stride=(stride, stride),
        **more,
    )  # type: ignore[arg-type]


def one(kind: type[g.Node], shape: tuple[int, ...] | None = None, **more: object) -> Maker:
    def make(x: g.Value) -> g.Node:
        out = g.Value("y", tuple(shape or x.shape))  # type: ignore[arg-type]
        return kind(name=kind.__name__, inputs=[x], output=out, **more)

    return make


def pool(mode: str, kernel: int, stride: int, pad: int = 0, **more: object) -> Maker:
    def make(x: g.Value) -> g.Node:
        n, c, h, w = x.shape
        size = [(length + 2 * pad - kernel) // stride + 1 for length in (h, w)]
        return g.Pool(
            name="pool",
            inputs=[x],
            output=g.Value("y", (n, c, size[0], size[1])),
            mode=mode,
            kernel=(kernel, kernel),
            stride=(stride, stride),
            pads=(pad, pad, pad, pad),
            **({"divisor": kernel * kernel} | more),
        )  # type: ignore[arg-type]

    return make


def linear(out: int, size: int, half: bool = True) -> np.ndarray:
    """Rows of a linear resize, half pixel or aligned corners."""
    at = np.arange(out)
    where = (at + 0.5) * size / out - 0.5 if half else at * (size - 1) / max(out - 1, 1)
    where = np.clip(where, 0, size - 1)
    low = np.floor(where).astype(int)
    high = np.minimum(low + 1, size - 1)
    matrix = np.zeros((out, size), np.float32)
    np.add.at(matrix, (at, low), 1 - (where - low))
    np.add.at(matrix, (at, high), where - low)
    return matrix


def nearest(out: int, size: int) -> np.ndarray:
    matrix = np.zeros((out, size), np.float32)
    matrix[np.arange(out), np.arange(out) * size // out] = 1
    return matrix


NODES: dict[str, tuple[tuple[int, int, int, int], Maker]] = {
    "conv3x3": ((1, 5, 9, 8), lambda x: conv(x, 7, pads=(1, 1, 1, 1))),
    "conv1x1": ((1, 40, 5, 6), lambda x: conv(x, 70, 1)),
    "conv_stride": ((1, 3, 12, 11), lambda x: conv(x, 9, stride=(2, 3), pads=(0, 1, 2, 1))),
    "conv_dilated": ((1, 8, 14, 13), lambda x: conv(x, 9, dilation=(2, 3), pads=(2, 2, 3, 3))),
    "conv_groups": ((1, 12, 6, 5), lambda x: conv(x, 24, groups=4, pads=(1, 1, 1, 1))),
    "conv_depthwise": ((1, 75, 6, 5), lambda x: conv(x, 75, groups=75, pads=(1, 1, 1, 1))),
    "conv_depthwise2": ((1, 20, 6, 5), lambda x: conv(x, 40, groups=20)),
    "conv_wide_pads": ((1, 4, 5, 5), lambda x: conv(x, 4, 1, pads=(1, 2, 1, 0))),
    "conv_stride16": ((1, 3, 32, 32), lambda x: conv(x, 10, 8, stride=(16, 16))),
    "conv_batch": ((3, 5, 6, 6), lambda x: conv(x, 7, pads=(1, 1, 1, 1))),
    "deconv2": ((1, 6, 4, 5), lambda x: deconv(x, 5, 2, 2)),
    "deconv3": ((1, 6, 4, 5), lambda x: deconv(x, 5, 3, 2, pads=(1, 1, 1, 1))),
    "deconv4": ((1, 6, 4, 5), lambda x: deconv(x, 40, 4, 2, pads=(1, 1, 1, 1))),
    "deconv_extra": (
        (1, 6, 4, 5),
        lambda x: deconv(x, 5, 3, 2, pads=(1, 1, 1, 1), output_padding=(1, 1)),
    ),
    "deconv_groups": ((1, 6, 4, 5), lambda x: deconv(x, 6, 4, 2, groups=6, pads=(1, 1, 1, 1))),
    "deconv_dilated": ((1, 4, 4, 5), lambda x: deconv(x, 5, 2, 2, dilation=(2, 2))),
    "deconv1": ((1, 4, 4, 5), lambda x: deconv(x, 5, 3, 1, pads=(1, 1, 1, 1))),
    "affine": (
        (1, 13, 4, 5),
        one(g.Affine, scale=f32(1, 13, 1, 1), shift=f32(1, 13, 1, 1)),
    ),
    "affine_element": (
        (1, 13, 4, 5),
        one(g.Affine, scale=f32(1, 13, 4, 5), shift=f32(1, 13, 4, 5)),
    ),
    "relu": ((1, 13, 4, 5), one(g.Clip, low=0.0)),
    "relu6": ((1, 13, 4, 5), one(g.Clip, low=0.0, high=1.0)),
    "clip": ((1, 13, 4, 5), one(g.Clip, low=-0.5, high=0.75)),
    "leaky": ((1, 13, 4, 5), one(g.PRelu, slope=np.full((1, 1, 1, 1), 0.1, np.float32))),
    "prelu": ((1, 13, 4, 5), one(g.PRelu, slope=f32(1, 13, 1, 1))),
    "maxpool": ((1, 13, 8, 9), pool("max", 3, 2, 1)),
    "maxpool13": ((1, 13, 16, 15), pool("max", 13, 1, 6)),
    "minpool": ((1, 13, 8, 9), pool("min", 2, 2)),
    "global_max": ((1, 13, 20, 20), pool("max", 20, 1)),
    "wide_max": ((1, 9, 6, 300), pool("max", 3, 1, 1)),
    "average": ((1, 13, 8, 8), pool("average", 3, 1, 1)),
    "average_valid": (
        (1, 13, 6, 6),
        pool("average", 3, 1, 1, divisor=np.outer([2, 3, 3, 3, 3, 2], [2, 3, 3, 3, 3, 2])),
    ),
    "global_average": ((1, 70, 7, 7), pool("average", 7, 1)),
    "global_average56": ((1, 10, 56, 56), pool("average", 56, 1)),
    "slice": ((1, 50, 8, 9), one(g.Slice, (1, 20, 5, 6), starts=(13, 2, 1))),
    "slice_steps": ((1, 50, 8, 9), one(g.Slice, (1, 10, 4, 3), starts=(3, 1, 0), steps=(4, 2, 3))),
    "shuffle": (
        (1, 24, 4, 5),
        one(g.ChannelGather, channels=tuple(int(i) for i in rng.permutation(24))),
    ),
    "depth_dcr": ((1, 20, 3, 4), one(g.DepthToSpace, (1, 5, 6, 8), block=2)),
    "depth_crd": ((1, 45, 3, 4), one(g.DepthToSpace, (1, 5, 9, 12), block=3, crd=True)),
    "space": ((1, 5, 6, 8), one(g.SpaceToDepth, (1, 20, 3, 4), block=2)),
    "nearest2": (
        (1, 40, 4, 5),
        one(g.Resize, (1, 40, 8, 10), mode="nearest", rows=nearest(8, 4), columns=nearest(10, 5)),
    ),
    "nearest_odd": (
        (1, 9, 4, 5),
        one(g.Resize, (1, 9, 7, 3), mode="nearest", rows=nearest(7, 4), columns=nearest(3, 5)),
    ),
    "bilinear2": (
        (1, 9, 5, 6),
        one(g.Resize, (1, 9, 10, 12), mode="bilinear", rows=linear(10, 5), columns=linear(12, 6)),
    ),
    "bilinear_corners": (
        (1, 9, 5, 6),
        one(
            g.Resize,
            (1, 9, 8, 11),
            mode="bilinear",
            rows=linear(8, 5, False),
            columns=linear(11, 6, False),
        ),
    ),
    "pad": ((1, 9, 5, 6), one(g.Pad, (1, 9, 8, 10), pads=(1, 2, 3, 1), value=0.5)),
    "pad_edge": ((1, 9, 5, 6), one(g.Pad, (1, 9, 8, 10), pads=(1, 2, 3, 1), mode="edge")),
    "pad_reflect": ((1, 9, 5, 6), one(g.Pad, (1, 9, 8, 10), pads=(1, 2, 3, 1), mode="reflect")),
    "pad_channels": ((1, 9, 5, 6), one(g.Pad, (1, 14, 5, 6), pads=(0, 0, 0, 0), channels=(2, 3))),
    "transpose": ((1, 9, 5, 6), one(g.Transpose, (1, 9, 6, 5), order=(0, 1, 3, 2))),
    "reshape_flat": ((1, 9, 5, 6), one(g.Reshape, (1, 270, 1, 1))),
    "reshape_up": ((1, 270, 1, 1), one(g.Reshape, (1, 9, 5, 6))),
    "reshape_across": ((1, 9, 4, 6), one(g.Reshape, (1, 6, 4, 9))),
}


@pytest.mark.parametrize(("config", "precision"), TARGETS)
@pytest.mark.parametrize("name", NODES)
def test_node(name: str, config: str, precision: str) -> None:
    shape, make = NODES[name]
    x = g.Value("x", shape)
    node = make(x)
    data = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    if name == "global_average56":  # means of tiles are stored: their step is that of the input
        data = np.abs(data)
    steps = 3 if name == "bilinear_corners" else 2  # three roundings
    compare(graph_of([node], [x], [node.output]), [data], config, precision, steps)


CURVES = ["Sigmoid", "Tanh", "SiLU", "HardSwish", "GELU", "Mish", "Softplus", "Elu", "Exp", "Abs"]


@pytest.mark.parametrize(("config", "precision"), TARGETS[1:])
@pytest.mark.parametrize("function", CURVES)
def test_curve(function: str, config: str, precision: str) -> None:
    x = g.Value("x", (1, 12, 9, 10))
    node = g.Curve(name=function, inputs=[x], output=g.Value("y", x.shape), function=function)
    data = np.random.default_rng(7).normal(size=x.shape) * 2
    steps = 60 if precision == "int16" else 2  # 257 entries: linear interpolation in between
    compare(graph_of([node], [x], [node.output]), [data], config, precision, steps)


@pytest.mark.parametrize(("config", "precision"), TARGETS)
@pytest.mark.parametrize("function", ["add", "sub", "mul", "max", "min"])
@pytest.mark.parametrize("second", [(1, 12, 9, 10), (1, 12, 1, 1), (1, 1, 9, 10)])
def test_binary(
    function: str, config: str, precision: str, second: tuple[int, int, int, int]
) -> None:
    x, z = g.Value("x", (1, 12, 9, 10)), g.Value("z", second)
    node = g.Binary(name=function, inputs=[x, z], output=g.Value("y", x.shape), function=function)
    own = np.random.default_rng(7)
    data = [own.normal(size=x.shape), own.normal(size=second) * 3]
    compare(graph_of([node], [x, z], [node.output]), data, config, precision)
