"""Each rule on both sides of its boundary: a network that keeps it, one that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

from cudla_sim.boards import check
from cudla_sim.boards.rules.rule import table

from .graphs import Graph, convolution, ints, ones, single

X = (1, 8, 16, 16)
Model = Callable[[], Any]


class Case(NamedTuple):
    """*kept* and *broken* are networks; *options* of check for both, *at_kept* and *at_broken*
    for one. A rule that takes a layer is kept where it takes it."""

    kept: Model
    broken: Model
    options: Mapping[str, Any] = MappingProxyType({})
    at_kept: Mapping[str, Any] = MappingProxyType({})
    at_broken: Mapping[str, Any] = MappingProxyType({})


def _one(*given: Any, **attributes: Any) -> Model:
    return lambda: single(*given, **attributes)


def _conv(**options: Any) -> Model:
    return lambda: convolution(**options)


def _deconv(kernel: tuple[int, int] = (2, 2), x: Any = X, maps: int = 8, **more: Any) -> Model:
    groups = more.get("group", 1)
    return _one("ConvTranspose", x, ones(x[1], maps // groups, *kernel), **more)


def _pool(size: int = 2, op: str = "MaxPool", x: Any = X, **more: Any) -> Model:
    return _one(op, x, kernel_shape=[size, size], **more)


def _clip(low: float, high: float) -> Model:
    return _one("Clip", X, np.float32(low), np.float32(high))


def _resize(scales: list[float], mode: str = "nearest", **more: Any) -> Model:
    more = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} | more
    if mode == "linear":
        more = {"coordinate_transformation_mode": "half_pixel"} | {
            k: v for k, v in more.items() if v not in ("asymmetric", "floor")
        }
    return _one("Resize", X, None, np.array(scales, np.float32), mode=mode, **more)


def _compared(op: str = "Greater", *, cast: bool = True, twice: bool = False) -> Model:
    def made() -> Any:
        graph = Graph()
        found = graph.add(op, X, np.float32(1))
        if cast:
            graph.add("Cast", found, to=1)
        if twice:
            graph.add("Not", found)
        return graph.model()

    return made


def _scaled(op: str, first: float, second: float, *, pairs: int = 2, **attributes: Any) -> Model:
    """A node between Q/DQ of two scales; *pairs* of its inputs."""

    def made() -> Any:
        graph = Graph()
        zero = np.int8(0)
        scales = (first, second)
        ends = []
        for scale in scales[:pairs]:
            q = graph.add("QuantizeLinear", X, np.float32(scale), zero)
            ends.append(graph.add("DequantizeLinear", q, np.float32(scale), zero))
        result = graph.add(op, *ends, **attributes)
        q = graph.add("QuantizeLinear", result, np.float32(second), zero)
        graph.add("DequantizeLinear", q, np.float32(second), zero)
        return graph.model()

    return made


def _beside_slice() -> Any:
    graph = Graph()
    half = graph.add("Slice", X, ints(0), ints(4), ints(1))
    graph.add("Reshape", half, ints(1, 8, 8, 16))
    return graph.model()


def _run_time_slice() -> Any:
    graph = Graph()
    start = graph.input((1,), kind=np.int64)
    graph.add("Slice", X, start, ints(8), ints(1))
    return graph.model()


def _run_time_kernel(op: str = "Conv") -> Model:
    return _one(op, X, (8, 8, 3, 3))


def _floats_only(kind: Any) -> Model:
    def made() -> Any:
        graph = Graph()
        x = graph.input(X, kind=kind)
        graph.add("Abs", x)
        return graph.model()

    return made


def _open_shape() -> Any:
    graph = Graph()
    x = graph.input((1, 8, 16, 16))
    count = graph.input((1,), kind=np.int64)
    graph.add("Slice", x, ints(0), count, ints(2))
    return graph.model()


def _constant_left() -> Any:
    return single("RandomNormal", shape=[1, 8, 4, 4])


RELU, ABS = _one("Relu", X), _one("Abs", X)
ORIN, XAVIER = {"board": "orin"}, {"board": "xavier"}
INT8 = {"int8": True}
NEW = {"tensorrt": "11.4"}
DRIVE = {"tensorrt": "8.6.12"}
OLD = {"tensorrt": "8.5.2"}
DIV = _one("Div", X, np.float32(2))
POW = _one("Pow", X, np.float32(2))
SOFT = _one("Softmax", (1, 16), axis=1)
QDQ = _scaled("Relu", 0.1, 0.1, pairs=1)

CASES: dict[str, Case] = {
    # what the DLA has: taken, and not taken
    "convolution": Case(_conv(), RELU),
    "fully-connected": Case(_one("MatMul", (1, 8), ones(8, 4)), _one("MatMul", (1, 8), (8, 4))),
    "deconvolution": Case(_deconv(strides=[2, 2]), RELU),
    "pooling": Case(_pool(), _one("LpPool", X, kernel_shape=[2, 2])),
    "activation": Case(RELU, _one("Elu", X)),
    "parametric-relu": Case(_one("PRelu", X, ones(8, 1, 1)), RELU),
    "elementwise": Case(_one("Add", X, X), _one("Mod", X, X, fmod=1)),
    "division": Case(DIV, DIV, ORIN, DRIVE, {"tensorrt": "8.6.11"}),
    "division-10": Case(DIV, DIV, ORIN, {"tensorrt": "10.3"}, DRIVE),
    "power": Case(POW, POW, ORIN, DRIVE, {"tensorrt": "8.6.11"}),
    "equal": Case(_compared("Equal"), _compared("Equal"), INT8, ORIN, XAVIER),
    "greater-less": Case(_compared(), _compared(), INT8, DRIVE, {"tensorrt": "8.6.11"}),
    "greater-less-10": Case(_compared(), _compared(), INT8, {"tensorrt": "10.3"}, DRIVE),
    "cast-of-comparison": Case(_compared(), _one("Cast", X, to=1), INT8),
    "scale": Case(_one("Mul", X, np.float32(2)), _one("Mul", X, X)),
    "lrn": Case(_one("LRN", X, size=5), RELU),
    "concatenation": Case(_one("Concat", X, X, axis=1), RELU),
    "resize": Case(_resize([1, 1, 2, 2]), RELU),
    "softmax": Case(SOFT, SOFT, {}, ORIN, XAVIER),
    "shuffle": Case(_one("Transpose", X, perm=[0, 2, 3, 1]), _one("Flatten", X)),
    "slice": Case(_one("Slice", X, ints(0), ints(4), ints(1)), _one("Expand", X, ints(1, 8, 1, 1))),
    "reduce-max": Case(_one("GlobalMaxPool", X), _one("GlobalMaxPool", X), ORIN, DRIVE, OLD),
    "reduce-max-10": Case(
        _one("GlobalMaxPool", X), _one("GlobalMaxPool", X), ORIN, {"tensorrt": "10.3"}, DRIVE
    ),
    "absolute": Case(ABS, _one("Neg", X), XAVIER),
    "sine": Case(_one("Sin", X), _one("Sin", X), INT8, DRIVE, OLD),
    "sine-10": Case(_one("Sin", X), _one("Sin", X), INT8, {"tensorrt": "10.3"}, DRIVE),
    # what it is known not to have
    "quantize": Case(QDQ, QDQ, INT8, NEW, {"tensorrt": "10.7"}),
    "global-average": Case(_pool(8, "AveragePool"), _one("GlobalAveragePool", X)),
    "reduce-sum": Case(_one("GlobalMaxPool", X), _one("ReduceSum", X, ints(1))),
    "global-max-before": Case(
        _one("GlobalMaxPool", X), _one("GlobalMaxPool", X), ORIN, DRIVE, {"tensorrt": "8.6.11"}
    ),
    "flatten": Case(_one("Reshape", X, ints(1, 8, 8, 32)), _one("Flatten", X)),
    "not-exposed": Case(ABS, _one("Erf", X)),
    "hard-swish": Case(_one("Sigmoid", X), _one("HardSwish", X)),
    "reconstruction": Case(
        _one("Transpose", X, perm=[0, 2, 3, 1]), _one("DepthToSpace", X, blocksize=2)
    ),
    "activations-product": Case(
        _one("MatMul", (1, 8), ones(8, 4)), _one("MatMul", (1, 8), (8, 4))
    ),
    "left-over-constant": Case(RELU, _constant_left),
    "softmax-xavier": Case(SOFT, SOFT, {}, ORIN, XAVIER),
    "shuffle-xavier": Case(
        _one("Transpose", X, perm=[0, 2, 1, 3]), _one("Transpose", X, perm=[0, 2, 1, 3]),
        {}, ORIN, XAVIER,
    ),
    "div-before": Case(DIV, DIV, ORIN, DRIVE, {"tensorrt": "8.6.11"}),
    "pow-before": Case(POW, POW, ORIN, DRIVE, {"tensorrt": "8.6.11"}),
    # all layers
    "dynamic": Case(_one("Slice", X, ints(0), ints(4), ints(2)), _open_shape),
    "types": Case(_floats_only(np.float16), _floats_only(np.int32)),
    "batch": Case(_one("Relu", (4096, 1, 1, 1)), _one("Relu", (4097, 1, 1, 1))),
    "dimensions": Case(_one("Relu", (1, 1, 1, 8192)), _one("Relu", (1, 1, 1, 8193))),
    "spatial": Case(
        _pool(2), _one("MaxPool", (1, 4, 4, 4, 4), kernel_shape=[2, 2, 2])
    ),
    # convolution, fully connected
    "convolution-constant": Case(_conv(), _run_time_kernel()),
    "convolution-kernel": Case(
        _conv(x=(1, 1, 64, 64), kernel=(32, 1)), _conv(x=(1, 1, 64, 64), kernel=(33, 1))
    ),
    "convolution-padding": Case(
        _conv(kernel=(32, 1), pads=[31, 0, 31, 0]),
        _conv(kernel=(17, 1), dilations=[2, 1], pads=[32, 0, 0, 0]),
    ),
    "convolution-padding-kernel": Case(
        _conv(pads=[2, 2, 2, 2]), _conv(pads=[3, 0, 0, 0])
    ),
    "convolution-stride": Case(_conv(strides=[8, 8]), _conv(strides=[9, 1])),
    "convolution-dilation": Case(
        _conv(x=(1, 1, 80, 80), dilations=[32, 1]), _conv(x=(1, 1, 80, 80), dilations=[1, 33])
    ),
    "convolution-maps": Case(
        _conv(x=(1, 1, 2, 2), kernel=(1, 1), maps=8192),
        _conv(x=(1, 1, 2, 2), kernel=(1, 1), maps=8193),
    ),
    "convolution-groups": Case(
        _conv(x=(1, 8192, 1, 1), kernel=(1, 1), maps=8192, groups=8192),
        _conv(x=(1, 8193, 1, 1), kernel=(1, 1), maps=8193, groups=8193),
    ),
    "convolution-groups-hwc4": Case(
        _conv(x=(1, 4, 8, 8), groups=4), _conv(x=(1, 5, 8, 8), maps=5, groups=5), {"hwc4": True}
    ),
    # INT8, 512 channels, 3 lines: 4 * 320 * 3 entries of 256 a bank are 15, and 1 for a kernel
    "convolution-buffer": Case(
        _conv(x=(1, 512, 4, 320), maps=1), _conv(x=(1, 512, 4, 321), maps=1), INT8
    ),
    # FP16, 512 channels, 3 lines: 8 * 160 * 3 entries of 256 a bank are 15, and 1 for a kernel
    "convolution-memory": Case(
        _conv(x=(1, 512, 4, 149), maps=1), _conv(x=(1, 512, 4, 160), maps=1)
    ),
    "fully-connected-rank": Case(
        _one("MatMul", (1, 8), ones(8, 4)), _one("MatMul", (1, 3, 8), ones(8, 4))
    ),
    # deconvolution
    "deconvolution-kernel": Case(
        _deconv((1, 64), strides=[1, 2]), _deconv((1, 65), strides=[1, 2])
    ),
    "deconvolution-stride": Case(
        _deconv((1, 2), strides=[1, 64]), _deconv((1, 2), strides=[1, 65])
    ),
    "deconvolution-square": Case(
        _deconv((22, 22), strides=[2, 2]), _deconv((23, 23), strides=[2, 2])
    ),
    "deconvolution-padding": Case(_deconv(), _deconv(pads=[0, 0, 1, 0])),
    "deconvolution-groups": Case(_deconv(), _deconv(group=2)),
    "deconvolution-dilation": Case(_deconv(), _deconv(dilations=[1, 2])),
    "deconvolution-channels": Case(
        _deconv((1, 1), (1, 8192, 1, 1), 1), _deconv((1, 1), (1, 8193, 1, 1), 1)
    ),
    "deconvolution-xavier": Case(_deconv(), _deconv(), {}, ORIN, XAVIER),
    # pooling
    "pooling-window": Case(_pool(8), _pool(9)),
    "pooling-padding": Case(
        _pool(8, pads=[7, 7, 7, 7]),
        _pool(9, pads=[8, 0, 0, 0]),
    ),
    "pooling-stride": Case(_pool(strides=[16, 16]), _pool(strides=[17, 1])),
    "pooling-scales": Case(
        _scaled("MaxPool", 0.1, 0.1, pairs=1, kernel_shape=[2, 2]),
        _scaled("MaxPool", 0.1, 0.2, pairs=1, kernel_shape=[2, 2]),
        INT8 | NEW,
    ),
    # functions of elements
    "clip": Case(_clip(0, 127), _clip(0, 128)),
    "sigmoid-int8": Case(_one("Sigmoid", X), _one("Sigmoid", X), {}, {}, INT8),
    "prelu-constant": Case(_one("PRelu", X, ones(8, 1, 1)), _one("PRelu", X, (8, 1, 1))),
    "prelu-rank": Case(_one("PRelu", X, ones(1, 8, 1, 1)), _one("PRelu", X, ones(8, 1, 1))),
    "scale-constant": Case(
        _one("Mul", X, np.float32(2)), _one("Mul", X, np.float32(2)), {}, OLD, {"tensorrt": "8.4"}
    ),
    "elementwise-constant": Case(
        _one("Div", X, np.float32(3)),
        _one("Div", X, np.arange(1, 9, dtype=np.float32).reshape(8, 1, 1)),
    ),
    "elementwise-broadcast": Case(_one("Mul", X, (1, 8, 1, 1)), _one("Mul", X, (1, 1, 16, 16))),
    "elementwise-two-varying": Case(DIV, _one("Div", X, X)),
    "elementwise-ranges": Case(_scaled("Add", 0.1, 0.1), _scaled("Add", 0.1, 0.2), INT8 | NEW),
    "comparison-int8": Case(_compared(), _compared(), {}, INT8),
    "comparison-cast": Case(_compared(), _compared(twice=True), INT8),
    "sine-int8": Case(_one("Cos", X), _one("Cos", X), {}, INT8),
    "lrn-window": Case(_one("LRN", X, size=9), _one("LRN", X, size=11)),
    "lrn-int8": Case(_one("LRN", X, size=5), _one("LRN", X, size=5), {}, {}, INT8),
    # arrangement
    "concatenation-axis": Case(_one("Concat", X, X, axis=1), _one("Concat", X, X, axis=2)),
    "concatenation-inputs": Case(_one("Concat", X, X, axis=1), _one("Concat", X, axis=1)),
    "concatenation-alignment": Case(
        _one("Concat", (1, 16, 4, 4), (1, 5, 4, 4), axis=1),
        _one("Concat", (1, 17, 4, 4), (1, 5, 4, 4), axis=1),
    ),
    "concatenation-constants": Case(
        _one("Concat", X, X, axis=1), _one("Concat", X, ones(*X), axis=1)
    ),
    "concatenation-ranges": Case(
        _scaled("Concat", 0.1, 0.1, axis=1), _scaled("Concat", 0.1, 0.2, axis=1), INT8 | NEW
    ),
    "resize-others": Case(_resize([1, 1, 2, 2]), _resize([1, 2, 2, 2])),
    "resize-by-sizes": Case(
        _resize([1, 1, 2, 2]),
        _one("Resize", X, None, None, ints(1, 8, 32, 32), mode="nearest",
             coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    ),
    "resize-nearest": Case(_resize([1, 1, 32, 32]), _resize([1, 1, 33, 32])),
    "resize-linear": Case(
        _resize([1, 1, 4, 4], "linear"), _resize([1, 1, 4, 5], "linear")
    ),
    "resize-mode": Case(_resize([1, 1, 2, 2]), _resize([1, 1, 2, 2], "cubic")),
    "resize-nearest-places": Case(
        _resize([1, 1, 2, 2]), _resize([1, 1, 2, 2], nearest_mode="ceil")
    ),
    "resize-linear-places": Case(
        _resize([1, 1, 2, 2], "linear"),
        _resize([1, 1, 2, 2], "linear", coordinate_transformation_mode="align_corners"),
    ),
    "softmax-int8": Case(SOFT, SOFT, INT8, {}, OLD),
    "softmax-shape": Case(
        _one("Softmax", (1, 1024, 1, 2), axis=1), _one("Softmax", (1, 1025, 1, 2), axis=1)
    ),
    "softmax-length": Case(
        _one("Softmax", (1, 8192, 1, 1), axis=1), _one("Softmax", (1, 8193, 1, 1), axis=1)
    ),
    "softmax-axis": Case(
        _one("Softmax", (2, 4, 1, 1), axis=1), _one("Softmax", (2, 4, 1, 1), axis=0)
    ),
    "softmax-batch": Case(
        _one("Softmax", (1, 16), axis=1), _one("Softmax", (2, 16), axis=1), OLD
    ),
    "softmax-error": Case(
        _one("Softmax", (1, 4, 1, 1), axis=1), _one("Softmax", (1, 4, 1, 2), axis=1)
    ),
    "shuffle-rank": Case(
        _one("Reshape", X, ints(1, 8, 8, 32)), _one("Reshape", X, ints(1, 8, 256))
    ),
    "shuffle-batch": Case(
        _one("Transpose", X, perm=[0, 2, 1, 3]), _one("Transpose", X, perm=[1, 0, 2, 3])
    ),
    "reshape-beside-slice": Case(_one("Reshape", X, ints(1, 8, 8, 32)), _beside_slice),
    "slice-int8": Case(
        _one("Slice", X, ints(0), ints(4), ints(1)),
        _one("Slice", X, ints(0), ints(4), ints(1)),
        INT8, {}, OLD,
    ),
    "slice-rank": Case(
        _one("Slice", X, ints(0), ints(4), ints(1)),
        _one("Slice", (1, 8, 16), ints(0), ints(4), ints(1)),
    ),
    "slice-constant": Case(_one("Slice", X, ints(0), ints(4), ints(1)), _run_time_slice),
    "slice-stride": Case(
        _one("Slice", X, ints(0), ints(8), ints(2), ints(1)),
        _one("Slice", X, ints(0), ints(8), ints(2), ints(2)),
    ),
    "slice-batch": Case(
        _one("Slice", X, ints(0), ints(4), ints(1)),
        _one("Slice", (2, 8, 4, 4), ints(0), ints(1), ints(0)),
    ),
    "reduce-shape": Case(
        _one("ReduceMax", X, axes=[2, 3]), _one("ReduceMax", X, axes=[2, 3], keepdims=0)
    ),
}  # fmt: skip


def _named(network: Model, options: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The rules that took a layer, and those that found something."""
    report = check(network(), **options)
    takes = {decision.taken_by for decision in report.decisions}
    return takes, {finding.rule for d in report.decisions for finding in d.findings}


def test_every_rule_has_a_case() -> None:
    assert {rule.id for rule in table()} == set(CASES)


@pytest.mark.parametrize("rule", table(), ids=lambda rule: rule.id)
def test_rule_on_both_sides_of_its_boundary(rule: Any) -> None:
    case = CASES[rule.id]
    takes, found = _named(case.kept, {**case.options, **case.at_kept})
    takes_too, found_too = _named(case.broken, {**case.options, **case.at_broken})
    if rule.takes:
        assert rule.id in takes
        assert rule.id not in takes_too
    else:
        assert rule.id not in found
        assert rule.id in found_too
