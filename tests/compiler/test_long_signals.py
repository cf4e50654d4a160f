"""Signals longer than a cube may be wide, and convolutions that step far over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.compiler.whole_way import compare

LONG = 12400
PLACES = (("nv_small", "int8"), ("nv_full", "int8"), ("nv_full", "int16"), ("nv_full", "fp16"))
# sums of hundreds of products: more of them are rounded
ALLOWED = {"int8": 5 / 127, "int16": 2e-3, "fp16": 4e-3}


def single(
    op: str, shape: list[int], constants: dict[str, np.ndarray[Any, Any]], **attributes: Any
) -> onnx.ModelProto:
    """A network of one node, its inputs x and the constants."""
    node = helper.make_node(op, ["x", *constants], ["y"], name="node", **attributes)
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    stored = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph([node], "signal", ports, [result], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)


def weights(*shape: int) -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(shape[0])
    return {"w": (random.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kernels", [16, 257])
def test_a_short_time_fourier_transform(kernels: int, place: tuple[str, str]) -> None:
    model = single("Conv", [1, 1, LONG], weights(kernels, 1, 512), strides=[160])
    operations = compare(model, *place, ALLOWED)
    # 512 columns that step by 160 are 13 that step by 4, behind two copies
    assert operations["CONV"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("op", "shape", "attributes"),
    [
        ("Relu", [1, 2, LONG], {}),
        ("Relu", [1, 1, LONG, 2], {}),
        ("MaxPool", [1, 3, LONG], {"kernel_shape": [2], "strides": [2]}),
        ("MaxPool", [1, 3, LONG, 2], {"kernel_shape": [3, 2], "strides": [2, 1]}),
        ("AveragePool", [1, 3, LONG], {"kernel_shape": [4], "strides": [4]}),
    ],
)
def test_more_columns_or_lines_than_a_cube_has(
    op: str, shape: list[int], attributes: dict[str, Any], place: tuple[str, str]
) -> None:
    compare(single(op, shape, {}, **attributes), *place)


def test_normalisation_of_many_columns() -> None:
    compare(single("LRN", [1, 8, 1, LONG], {}, size=3), "nv_full", "fp16")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("tall", [False, True])
def test_small_kernels_keep_their_edges(tall: bool, place: tuple[str, str]) -> None:
    size = [LONG, 3] if tall else [3, LONG]
    compare(single("Conv", [1, 1, *size], weights(4, 1, 3, 3), pads=[1] * 4), *place)


@pytest.mark.slow
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(1, 3),
    st.integers(1, 2),
    st.integers(30, 700),
    st.integers(1, 150),
    st.integers(1, 60),
    st.tuples(st.integers(0, 20), st.integers(0, 20)),
    st.booleans(),
    st.sampled_from(PLACES),
)
def test_any_step(
    channels: int,
    groups: int,
    length: int,
    taps: int,
    stride: int,
    pads: tuple[int, int],
    down: bool,
    place: tuple[str, str],
) -> None:
    assume(length + sum(pads) >= taps > max(pads))
    channels *= groups
    rest = [1, 2]
    axis = [length, *rest[1:]] if down else [*rest[1:], length]
    kernel = (taps, 1) if down else (1, taps)
    model = single(
        "Conv",
        [1, channels, *axis],
        weights(4, channels // groups, *kernel),
        strides=[stride, 1] if down else [1, stride],
        pads=[pads[0], 0, pads[1], 0] if down else [0, pads[0], 0, pads[1]],
        group=groups,
    )
    compare(model, *place, {"int8": 10 / 127, "int16": 4e-3, "fp16": 6e-3})
