"""Rewritten models compute the same: onnxruntime on both, over random parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper

from cudla_sim.boards import DlaError
from cudla_sim.boards.rewrites import Rewriting, rewrite
from cudla_sim.boards.rewrites.registry import REWRITES
from cudla_sim.boards.rules.rule import table

from .graphs import Graph, ints, single
from .test_published import classifier

FEW = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
NOISE = np.random.default_rng(7)


def noise(*shape: int) -> np.ndarray[Any, Any]:
    return NOISE.normal(size=shape).astype(np.float32)


def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options)
    return list(session.run(None, feeds))


def feeds_of(model: onnx.ModelProto, scale: float = 4.0) -> dict[str, Any]:
    found = {}
    for port in model.graph.input:
        kind = helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)
        shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
        found[port.name] = (NOISE.normal(size=shape) * scale).astype(kind)
    return found


def same(model: onnx.ModelProto, exact: bool = False, **options: Any) -> Rewriting:
    """Rewrites a model and compares its results with those of the original."""
    found = rewrite(model, **options)
    onnx.checker.check_model(found.model)
    feeds = feeds_of(model)
    for a, b in zip(run(model, feeds), run(found.model, feeds), strict=True):
        left, right = a.reshape(-1), b.reshape(-1)
        if exact:
            np.testing.assert_array_equal(left, right)
        else:  # FP16's step of the largest value
            np.testing.assert_allclose(right, left, rtol=0, atol=2**-10 * np.abs(left).max())
    assert found.equal
    return found


def done(found: Rewriting, name: str) -> None:
    """The rewrite was made, and its node is on the DLA now."""
    assert [step.rewrite for step in found.steps][:1] == [name], found.refused
    assert len(found.after.on_gpu) < len(found.before.on_gpu)


def test_rules_name_rewrites_that_exist_and_every_rewrite_is_named() -> None:
    named = {name for rule in table() for name in rule.rewrite.split()}
    assert named == set(REWRITES)


@FEW
@given(h=st.integers(1, 70), w=st.integers(1, 70), c=st.integers(1, 5))
def test_global_average(h: int, w: int, c: int) -> None:
    assume(h * w > 1)
    found = same(single("GlobalAveragePool", (1, c, h, w)))
    rest = [
        max((d for d in range(1, s + 1) if s % d == 0 and _rough(d)), default=1) for s in (h, w)
    ]
    if max(rest) <= 32:
        done(found, "global-average-pool")
    else:
        assert found.refused


def _rough(number: int) -> bool:
    """Without a factor of 2 to 8."""
    return all(number % factor for factor in (2, 3, 5, 7))


@pytest.mark.parametrize("op", ["ReduceMean", "ReduceSum"])
@pytest.mark.parametrize(("axes", "keep"), [([2, 3], 1), ([1], 1), ([-1], 1), ([2, 3], 0)])
def test_reductions_along_axes(op: str, axes: list[int], keep: int) -> None:
    given_axes: Any = ints(*axes)
    if op == "ReduceSum":
        model = single(op, (1, 6, 14, 9), given_axes, keepdims=keep)
    else:
        model = single(op, (1, 6, 14, 9), axes=axes, keepdims=keep)
    found = same(model)
    assert found.steps, found.refused
    assert not found.after.on_gpu or not keep


@FEW
@given(h=st.integers(1, 70), w=st.integers(2, 70))
def test_global_maximum_is_exact(h: int, w: int) -> None:
    done(
        same(single("GlobalMaxPool", (2, 3, h, w)), exact=True, tensorrt="8.5.2"), "global-max-pool"
    )


@FEW
@given(
    kernel=st.tuples(st.integers(1, 20), st.integers(9, 20)),
    strides=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    data=st.data(),
)
def test_large_maxima_are_exact(
    kernel: tuple[int, int], strides: tuple[int, int], data: st.DataObject
) -> None:
    pads = [data.draw(st.integers(0, min(k - 1, 7))) for k in kernel * 2]
    model = single(
        "MaxPool", (1, 2, 24, 30), kernel_shape=list(kernel), strides=list(strides), pads=pads
    )
    done(same(model, exact=True), "pool-chain")


@FEW
@given(kernel=st.integers(9, 24), stride=st.integers(1, 8), padded=st.booleans())
def test_large_averages(kernel: int, stride: int, padded: bool) -> None:
    more = {"pads": [3, 2, 1, 0], "count_include_pad": 1} if padded else {}
    model = single(
        "AveragePool", (1, 3, 48, 48), kernel_shape=[kernel] * 2, strides=[stride] * 2, **more
    )
    done(same(model), "pool-chain")


def test_hard_sigmoid_and_swish() -> None:
    for op, more in (("HardSwish", {}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4})):
        found = same(single(op, (1, 8, 6, 6), **more))
        done(found, "hard-swish")
        assert not found.after.on_gpu


@FEW
@given(
    low=st.one_of(st.none(), st.floats(-300, 300, width=32)),
    high=st.one_of(st.none(), st.floats(-300, 300, width=32)),
)
def test_clip_of_any_limits(low: float | None, high: float | None) -> None:
    assume(low is not None or high is not None)
    assume(low is None or high is None or high - low > 0.01)
    limits = [None if value is None else np.float32(value) for value in (low, high)]
    found = same(single("Clip", (1, 4, 8, 8), *limits))
    if found.steps:
        done(found, "clip")
    else:
        assert not found.before.on_gpu


def test_divide_square_negate_and_what_does_nothing() -> None:
    x = (1, 4, 6, 6)
    done(same(single("Div", x, noise(4, 1, 1) + 3), tensorrt="8.5.2"), "divide-by-constant")
    for power in (2, 3, 4):
        done(same(single("Pow", x, np.float32(power)), tensorrt="8.5.2"), "square")
    done(same(single("Neg", x), exact=True), "negate")
    graph = Graph()
    graph.add("Relu", graph.add("Identity", graph.add("Abs", x)))
    done(same(graph.model(), exact=True), "leave-out")
    done(same(single("Mean", x, x, x)), "sum-and-scale")
    found = rewrite(single("Pow", (1, 4), np.float32(2.5)), tensorrt="8.5.2")
    assert found.refused[0].text == "its exponent is 2.5; 2, 3 and 4 are products"


@FEW
@given(
    shape=st.tuples(st.integers(1, 2), st.integers(1, 6), st.integers(1, 5), st.integers(1, 5)),
    widths=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    function=st.sampled_from(["Relu", "Sigmoid", "Tanh"]),
    gemm=st.booleans(),
)
def test_fully_connected_layers_become_convolutions(
    shape: tuple[int, ...], widths: list[int], function: str, gemm: bool
) -> None:
    graph = Graph()
    features = int(np.prod(shape[1:]))
    value = graph.add("Flatten", graph.add("Abs", shape))
    for width in widths:
        if gemm:
            value = graph.add(
                "Gemm", value, noise(width, features), noise(width), transB=1, alpha=0.5, beta=2.0
            )
        else:
            value = graph.add("MatMul", value, noise(features, width))
            value = graph.add("Add", value, noise(width))
        value = graph.add(function, value)
        features = width
    found = same(graph.model())
    done(found, "flatten-gemm")
    assert not found.after.on_gpu
    assert list(found.outputs.values()) == [(shape[0], widths[-1], 1, 1)]


def test_a_classifier_is_one_subgraph_afterwards() -> None:
    found = same(classifier(), int8=True)
    assert [step.rewrite for step in found.steps] == ["global-average-pool", "flatten-gemm"]
    assert (len(found.before.subgraphs), len(found.after.subgraphs)) == (2, 1)
    assert same(classifier(), standalone=True).after.buildable


def test_a_matrix_that_others_read_comes_back_by_a_flatten() -> None:
    graph = Graph()
    flat = graph.add("Flatten", graph.add("Relu", (1, 4, 3, 3)))
    wide = graph.add("Gemm", flat, noise(36, 8))
    graph.add("Erf", wide)
    found = same(graph.model())
    done_ops = [node.op_type for node in found.model.graph.node]
    assert done_ops == ["Relu", "Conv", "Flatten", "Erf"]


@FEW
@given(
    scales=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    places=st.sampled_from(["asymmetric", "half_pixel", "pytorch_half_pixel"]),
    rounding=st.sampled_from(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]),
)
def test_nearest_resizes_that_come_to_the_same(
    scales: tuple[int, int], places: str, rounding: str
) -> None:
    sizes = ints(1, 3, 4 * scales[0], 5 * scales[1])
    found = same(
        single("Resize", (1, 3, 4, 5), None, None, sizes, mode="nearest",
               coordinate_transformation_mode=places, nearest_mode=rounding),
        exact=True,
    )  # fmt: skip
    assert any(step.rewrite == "resize-scales" for step in found.steps) or found.refused
    if places != "asymmetric" and rounding.startswith("round"):
        assert not found.after.on_gpu


def test_linear_resizes_of_pytorch() -> None:
    found = same(
        single("Resize", (1, 3, 4, 5), None, np.array([1, 1, 2, 3], np.float32), mode="linear",
               coordinate_transformation_mode="pytorch_half_pixel"),
    )  # fmt: skip
    done(found, "resize-places")
    found = same(
        single("Resize", (1, 3, 4, 5), None, np.array([1, 1, 2, 2], np.float32), mode="linear",
               coordinate_transformation_mode="align_corners"),
    )  # fmt: skip
    assert "align_corners takes other places" in found.refused[0].text


@FEW
@given(
    begin=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    step=st.tuples(st.integers(1, 5), st.integers(2, 5)),
    end=st.tuples(st.integers(6, 40), st.integers(6, 40)),
)
def test_strided_slices_are_exact(
    begin: tuple[int, int], step: tuple[int, int], end: tuple[int, int]
) -> None:
    model = single("Slice", (1, 3, 11, 13), ints(*begin), ints(*end), ints(2, 3), ints(*step))
    done(same(model, exact=True), "slice-stride")


def test_focus_of_yolov5_is_on_the_dla() -> None:
    graph = Graph()
    x = graph.input((1, 3, 16, 16))
    parts = [
        graph.add("Slice", x, ints(i, j), ints(99, 99), ints(2, 3), ints(2, 2))
        for i, j in ((0, 0), (1, 0), (0, 1), (1, 1))
    ]
    graph.add("Conv", graph.add("Concat", *parts, axis=1), noise(8, 12, 3, 3))
    found = same(graph.model())
    assert found.before.on_gpu
    assert not found.after.on_gpu


def test_channels_are_gathered_by_a_convolution() -> None:
    model = single("Gather", (1, 12, 4, 4), ints(3, -1, 3), axis=1)
    done(same(model, exact=True), "select-channels")


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("block", [2, 3])
def test_depth_and_space_are_exact(mode: str, block: int) -> None:
    model = single("DepthToSpace", (1, 2 * block**2, 3, 4), blocksize=block, mode=mode)
    done(same(model, exact=True), "depth-to-space")
    model = single("SpaceToDepth", (1, 3, 2 * block, 4 * block), blocksize=block)
    done(same(model, exact=True), "space-to-depth")


@FEW
@given(kernel=st.integers(2, 5), stride=st.integers(1, 3), data=st.data(), more=st.integers(0, 1))
def test_deconvolutions_without_padding(
    kernel: int, stride: int, data: st.DataObject, more: int
) -> None:
    pads = [data.draw(st.integers(1, kernel - 1)) for _ in range(4)]
    model = single(
        "ConvTranspose", (1, 3, 6, 7), noise(3, 4, kernel, kernel), strides=[stride] * 2,
        pads=pads, output_padding=[min(more, stride - 1)] * 2,
    )  # fmt: skip
    done(same(model), "deconvolution-padding")


@FEW
@given(
    widths=st.lists(st.integers(1, 70), min_size=2, max_size=4),
    function=st.sampled_from(["Relu", "Tanh", ""]),
    readers=st.integers(1, 2),
)
def test_padded_channels(widths: list[int], function: str, readers: int) -> None:
    graph = Graph()
    x = graph.input((1, 3, 5, 5))
    parts = []
    for width in widths:
        value = graph.add("Conv", x, noise(width, 3, 1, 1), noise(width))
        parts.append(graph.add(function, value) if function else value)
    whole = graph.add("Concat", *parts, axis=1)
    for _ in range(readers):
        graph.add("Conv", graph.add("Relu", whole), noise(4, sum(widths), 3, 3))
    found = same(graph.model(), only=["pad-channels"])
    assert bool(found.steps) == any(width % 16 for width in widths[:-1])
    if found.steps:
        (concat,) = (n for n in found.model.graph.node if n.op_type == "Concat")
        kernels = {t.name: t.dims for t in found.model.graph.initializer}
        for node in found.model.graph.node:
            if (
                node.op_type == "Conv"
                and node.input[0] == "x0"
                and len(kernels[node.input[1]]) == 4
            ):
                maps = kernels[node.input[1]][0]
                assert maps % 32 == 0 or maps == widths[-1]
        assert len(concat.input) == len(widths)
    assert not rewrite(graph.model()).steps  # only where it is asked for


def test_channels_that_others_read_are_not_padded() -> None:
    graph = Graph()
    part = graph.add("Conv", (1, 3, 5, 5), noise(5, 3, 1, 1), name="part")
    whole = graph.add("Concat", part, "x0", axis=1)
    graph.add("Conv", whole, noise(4, 8, 1, 1))
    graph.add("Abs", part)
    found = rewrite(graph.model(), only=["pad-channels"])
    assert found.refused[0].text == "something else reads one of its inputs"


@FEW
@given(pads=st.lists(st.integers(0, 4), min_size=4, max_size=4), reads=st.booleans())
def test_padding_goes_into_a_convolution(pads: list[int], reads: bool) -> None:
    assume(any(pads))
    graph = Graph()
    around = ints(0, 0, pads[0], pads[1], 0, 0, pads[2], pads[3])
    value = graph.add("Pad", (1, 3, 8, 8), around)
    if reads:
        graph.add("Conv", value, noise(4, 3, 3, 3), pads=[1, 1, 1, 1])
    else:
        graph.add("MaxPool", value, kernel_shape=[2, 2])
    done(same(graph.model()), "pad")


def test_quantised_models_lose_their_pairs_and_keep_scales() -> None:
    graph = Graph()
    zero = np.int8(0)

    def pair(value: Any, scale: float) -> str:
        q = graph.add("QuantizeLinear", value, np.float32(scale), zero)
        return graph.add("DequantizeLinear", q, np.float32(scale), zero)

    kernel = graph.add(
        "DequantizeLinear", NOISE.integers(-99, 99, (4, 3, 3, 3)).astype(np.int8),
        np.array([0.1, 0.2, 0.3, 0.4], np.float32), np.zeros(4, np.int8), axis=0,
    )  # fmt: skip
    x = graph.add("Conv", pair((1, 3, 8, 8), 0.05), kernel, name="conv")
    graph.add("Relu", pair(x, 0.5), name="relu")
    found = rewrite(graph.model(), int8=True)
    assert [node.op_type for node in found.model.graph.node] == ["Conv", "Relu"]
    assert found.scales == pytest.approx({"x0": 0.05, "conv.out": 0.5})
    assert not found.after.on_gpu
    assert found.difference == 0.0  # against the model without pairs


def test_dynamic_shapes_are_fixed_and_their_computation_folded() -> None:
    graph = Graph()
    x = graph.input(("n", 3, 8, 8), "x")
    size = graph.add("Shape", x)
    batch = graph.add("Gather", size, np.int64(0), axis=0)
    batch = graph.add("Unsqueeze", batch, ints(0))
    target = graph.add("Concat", batch, ints(12, 4, 4), axis=0)
    graph.add("Reshape", graph.add("Relu", x), target)
    found = rewrite(graph.model(), shapes={"x": [2, 3, 8, 8]})
    assert [node.op_type for node in found.model.graph.node] == ["Relu", "Reshape"]
    dims = [d.dim_value for d in found.model.graph.input[0].type.tensor_type.shape.dim]
    assert dims == [2, 3, 8, 8]
    assert not found.after.on_gpu


def test_half_precision_models_stay_so() -> None:
    graph = Graph()
    x = graph.input((1, 4, 8, 8), kind=np.float16)
    value = graph.add("HardSwish", x)
    value = graph.add("Clip", value, np.float16(-1), np.float16(6))
    graph.add("GlobalAveragePool", value)
    found = rewrite(graph.model())
    assert not found.after.on_gpu
    onnx.checker.check_model(found.model, full_check=True)
    assert found.equal


def test_a_step_that_stays_on_the_gpu_is_not_made() -> None:
    found = rewrite(single("Div", (1, 4, 8400), np.float32(3)), tensorrt="8.5.2")
    assert not found.steps
    assert found.refused[0].text == "SCALE would be on the GPU: dimension 8400 > 8192"


def test_only_the_rewrites_that_are_asked_for() -> None:
    found = rewrite(classifier(), only=["global-average-pool"])
    assert [step.rewrite for step in found.steps] == ["global-average-pool"]
    with pytest.raises(DlaError, match="'nothing' is no rewrite"):
        rewrite(classifier(), only=["nothing"])


def test_the_model_that_is_given_is_not_changed() -> None:
    model = classifier()
    before = model.SerializeToString()
    rewrite(model)
    assert model.SerializeToString() == before


def test_a_choice_is_compared_by_what_it_chooses_by() -> None:
    """TopK of nearly equal scores: their order is no difference of the models."""
    from cudla_sim.boards.rewrites.verify import compared

    graph = Graph()
    scores = graph.add("GlobalAveragePool", graph.add("Relu", (1, 64, 13, 13)), name="scores")
    flat = graph.add("Reshape", scores, ints(1, 64), name="flat")
    graph.add("TopK", flat, ints(5), outputs=2, name="best")
    graph.add("Abs", scores, name="also")
    model = graph.model(kinds={"best.0": np.float32, "best.1": np.int64, "also.out": np.float32})
    found = rewrite(model)
    assert compared(model, found.model) == ["also.out", "flat.out"]
    assert found.steps
    assert found.equal


def test_a_slope_a_feature_follows_its_matrix() -> None:
    graph = Graph()
    flat = graph.add("Reshape", graph.add("Abs", (2, 4, 3, 3)), ints(2, -1))
    wide = graph.add("PRelu", graph.add("Gemm", flat, noise(36, 8)), noise(8))
    graph.add("Gemm", wide, noise(8, 2))
    graph.add("Gemm", wide, noise(8, 3))
    found = same(graph.model())
    assert not found.after.on_gpu
    assert sorted(found.outputs.values()) == [(2, 2, 1, 1), (2, 3, 1, 1)]
