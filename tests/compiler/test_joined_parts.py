"""Pieces of a tensor, joined with others and read by one operation: the operation writes every
channel, wherever the pieces left it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.compiler.whole_way import compare

PLACES = (
    ("nv_small", "int8"),
    ("nv_small_256_full", "int8"),
    ("nv_full", "int8"),
    ("nv_full", "int16"),
    ("nv_full", "fp16"),
)


def joined(pieces: list[tuple[int, int] | int], channels: int, factor: str) -> onnx.ModelProto:
    """Concat of channel ranges of x (pairs) and constants (counts), times s."""
    random = np.random.default_rng(channels)
    nodes, stored, names, total = [], [], [], 0
    for number, piece in enumerate(pieces):
        name = f"p{number}"
        if isinstance(piece, int):
            array = random.normal(size=(1, piece, 3, 5)).astype(np.float32)
            stored.append(numpy_helper.from_array(array, name))
            total += piece
        else:
            for word, value in (("start", piece[0]), ("end", piece[1]), ("axis", 1)):
                stored.append(numpy_helper.from_array(np.array([value]), f"{name}.{word}"))
            inputs = ["x", *(f"{name}.{word}" for word in ("start", "end", "axis"))]
            nodes.append(helper.make_node("Slice", inputs, [name], name=name))
            total += piece[1] - piece[0]
        names.append(name)
    shape = {"whole": [1, total, 3, 5], "pixels": [1, 1, 3, 5], "channels": [1, total, 1, 1]}
    nodes.append(helper.make_node("Concat", names, ["k"], axis=1, name="concat"))
    nodes.append(helper.make_node("Mul", ["k", "s"], ["y"], name="mul"))
    ports = [("x", [1, channels, 3, 5]), ("s", shape[factor]), ("y", shape["whole"])]
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in ports]
    graph = helper.make_graph(nodes, "joined", infos[:2], infos[2:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return onnx.shape_inference.infer_shapes(model)


@pytest.mark.slow
@pytest.mark.parametrize("factor", ["whole", "pixels", "channels"])
@pytest.mark.parametrize(("config", "precision"), PLACES)
def test_a_decoder_of_boxes(config: str, precision: str, factor: str) -> None:
    compare(joined([(0, 2), 1, (2, 4)], 4, factor), config, precision)


@st.composite
def pieces(draw: st.DrawFn) -> tuple[list[tuple[int, int] | int], int]:
    channels = draw(st.integers(2, 70))
    found: list[tuple[int, int] | int] = []
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            start = draw(st.integers(0, channels - 1))
            found.append((start, draw(st.integers(start + 1, channels))))
        else:
            found.append(draw(st.integers(1, 40)))
    return [(0, channels), *found], channels


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pieces(), st.sampled_from(["whole", "pixels", "channels"]), st.sampled_from(PLACES))
def test_any_pieces(
    made: tuple[list[tuple[int, int] | int], int], factor: str, place: tuple[str, str]
) -> None:
    compare(joined(*made, factor), *place)
